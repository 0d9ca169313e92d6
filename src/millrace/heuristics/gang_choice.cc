// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/gang_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace millrace {
namespace {

constexpr double kClosed = std::numeric_limits<double>::infinity();

// By group: units of the smallest device that can run it, and its least seconds on such a device.
struct Modest {
  std::vector<int> units;
  std::vector<double> seconds;
};

Modest ModestDevices(const CostedGraph& costed) {
  Modest modest;
  for (int group = 0; group < costed.num_groups; ++group) {
    int units = std::numeric_limits<int>::max();
    double seconds = kClosed;
    for (int device = 0; device < costed.num_devices; ++device) {
      const double here = costed.Seconds(group, device);
      if (!std::isfinite(here)) continue;
      const int own = costed.topology.UnitsOf(device);
      if (own < units) seconds = kClosed;
      if (own > units) continue;
      units = own;
      seconds = std::min(seconds, here);
    }
    modest.units.push_back(units);
    modest.seconds.push_back(seconds);
  }
  return modest;
}

// By group: how many groups run beside it and itself, on average over its time, where each starts as soon as it can.
std::vector<double> Widths(const CostedGraph& costed, const std::vector<double>& seconds) {
  const std::size_t groups = seconds.size();
  std::vector<double> starts(groups, 0.0);
  std::vector<double> begins, ends;
  for (const std::int32_t group : costed.topological_order) {
    const auto g = static_cast<std::size_t>(group);
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      const auto from = static_cast<std::size_t>(edge.group);
      starts[g] = std::max(starts[g], starts[from] + seconds[from]);
    }
    begins.push_back(starts[g]);
    ends.push_back(starts[g] + seconds[g]);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  // Running groups as a step function of time, and its integral up to each step.
  std::vector<double> times = begins;
  times.insert(times.end(), ends.begin(), ends.end());
  std::sort(times.begin(), times.end());
  std::vector<double> integral(times.size(), 0.0), running(times.size(), 0.0);
  std::size_t b = 0, e = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0) integral[i] = integral[i - 1] + running[i - 1] * (times[i] - times[i - 1]);
    while (b < groups && begins[b] <= times[i]) ++b;
    while (e < groups && ends[e] <= times[i]) ++e;
    running[i] = static_cast<double>(b - e);
  }
  const auto integral_at = [&](double time) {
    const auto at = std::lower_bound(times.begin(), times.end(), time) - times.begin();
    return integral[static_cast<std::size_t>(at)];
  };
  std::vector<double> widths;
  for (std::size_t g = 0; g < groups; ++g) {
    const double finish = starts[g] + seconds[g];
    const double area = integral_at(finish) - integral_at(starts[g]);
    widths.push_back(finish > starts[g] ? std::max(1.0, area / (finish - starts[g])) : 1.0);
  }
  return widths;
}

bool AllAsWide(const Topology& topology) {
  for (int device = 1; device < topology.num_devices; ++device) {
    if (topology.UnitsOf(device) != topology.UnitsOf(0)) return false;
  }
  return true;
}

}  // namespace

std::vector<CostedGraph> GangChoices(const CostedGraph& costed) {
  std::vector<CostedGraph> choices{costed};
  const Topology& topology = costed.topology;
  if (AllAsWide(topology)) return choices;
  const Modest modest = ModestDevices(costed);
  const std::vector<double> widths = Widths(costed, modest.seconds);
  choices.assign(3, costed);
  for (std::size_t g = 0; g < widths.size(); ++g) {
    if (costed.colocation[g] >= 0) continue;
    for (int device = 0; device < topology.num_devices; ++device) {
      const int units = topology.UnitsOf(device);
      if (units <= modest.units[g]) continue;
      const std::size_t pair = g * static_cast<std::size_t>(topology.num_devices) + static_cast<std::size_t>(device);
      if (units * widths[g] > topology.num_units) choices[1].seconds[pair] = kClosed;
      choices[2].seconds[pair] = kClosed;
    }
  }
  return choices;
}

PlannedAssignment BestGangChoice(const CostedGraph& costed,
                                 const std::function<PlannedAssignment(const CostedGraph&)>& schedule) {
  // A copy of a large graph takes as long as a schedule.
  if (AllAsWide(costed.topology)) return schedule(costed);
  PlannedAssignment best;
  bool first = true;
  for (const CostedGraph& choice : GangChoices(costed)) {
    PlannedAssignment planned = schedule(choice);
    if (first || planned.makespan < best.makespan) best = std::move(planned);
    first = false;
  }
  return best;
}

}  // namespace millrace
