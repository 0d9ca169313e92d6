// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

constexpr double kLeastSeconds = 5e-4;

// The devices that stand for their kinds, in ascending order of kind.
std::map<std::string, const Device*> DeviceOfKind(const Machine& machine) {
  std::map<std::string, const Device*> devices;
  for (const Device& device : machine.devices) devices.emplace(device.kind, &device);
  return devices;
}

class Profiler {
 public:
  Profiler(const Model& model, const Machine& machine, const ProfileGraphOptions& options, ProfileCache& cache)
      : model_(model),
        kinds_(DeviceOfKind(machine)),
        options_(options),
        cache_(cache),
        weights_apart_(WeightsLeaveCaches(model)) {}

  // What is known of the group on every kind; nothing while a kind is missing.
  std::optional<StatedSeconds> Known(const std::vector<OpId>& group) const {
    const std::string signature = GroupSignature(model_, group);
    StatedSeconds seconds;
    for (const auto& [kind, device] : kinds_) {
      const std::optional<double> known = cache_.Find(On(kind, signature), static_cast<int>(device->units.size()));
      if (!known) return std::nullopt;
      seconds.by_kind.emplace_back(kind, *known);
    }
    return seconds;
  }

  // The first group of every distinct signature some kind of which is unknown.
  std::vector<const std::vector<OpId>*> Unknown(const FusionGroups& groups, ProfileSummary& summary) const {
    std::vector<const std::vector<OpId>*> unknown;
    std::set<std::string> seen;
    for (const std::vector<OpId>& group : groups) {
      const std::string signature = GroupSignature(model_, group);
      if (!seen.insert(signature).second) continue;
      bool missing = false;
      for (const auto& [kind, device] : kinds_) {
        const bool known = cache_.Find(On(kind, signature), static_cast<int>(device->units.size())).has_value();
        ++summary.distinct;
        summary.from_cache += known ? 1 : 0;
        missing = missing || !known;
      }
      if (missing) unknown.push_back(&group);
    }
    return unknown;
  }

  // As long as the options say, or where the deadline leaves less for each that is missing, that, but for what a timing
  // takes beside its runs.
  void Measure(const std::vector<OpId>& group, const Deadline& deadline, ProfileSummary& summary) {
    const std::string signature = GroupSignature(model_, group);
    for (const auto& [kind, device] : kinds_) {
      const int units = static_cast<int>(device->units.size());
      const std::string key = On(kind, signature);
      if (cache_.Find(key, units)) continue;
      ProfileGroupOptions group_options;
      group_options.seconds = SecondsWithin(deadline, summary);
      group_options.weights_apart = weights_apart_;
      const Deadline clock;
      const ProfiledTime time = options_.time_group(model_, group, device->units, group_options);
      beside_runs_ += std::max(0.0, clock.Elapsed() - group_options.seconds);
      ++timings_;
      if (std::isnan(time.seconds)) continue;
      if (time.disturbed) {
        cache_.AddForNow(key, units, time.seconds);
        ++summary.disturbed;
      } else {
        cache_.Add(key, units, time.seconds);
      }
      ++summary.measured;
    }
  }

 private:
  double SecondsWithin(const Deadline& deadline, const ProfileSummary& summary) const {
    if (!deadline.Limited()) return options_.seconds_per_group;
    const int missing = std::max(1, summary.distinct - summary.from_cache - summary.measured);
    const double beside = timings_ == 0 ? 0 : beside_runs_ / timings_;
    return std::clamp(deadline.Left() / missing - beside, std::min(kLeastSeconds, options_.seconds_per_group),
                      options_.seconds_per_group);
  }

  // The cache is of this host's processors; others stand before the group, and so does what a large model does to its
  // time.
  std::string On(const std::string& kind, const std::string& signature) const {
    const auto elsewhere = options_.processors.find(kind);
    const std::string group = (weights_apart_ ? "weights from memory: " : "") + signature;
    return elsewhere == options_.processors.end() ? group : elsewhere->second + ": " + group;
  }

  const Model& model_;
  std::map<std::string, const Device*> kinds_;
  ProfileGraphOptions options_;
  ProfileCache& cache_;
  bool weights_apart_;
  double beside_runs_ = 0;  // seconds of timings so far: preparation, and where fewest runs take longer, these
  int timings_ = 0;
};

}  // namespace

ComputationGraph ProfileGraph(const Model& model, const ComputationGraph& graph, const Machine& machine,
                              const FusionGroups& groups, const ProfileGraphOptions& options, ProfileCache& cache,
                              const Deadline& deadline, const std::function<void(int, int)>& progress,
                              ProfileSummary& summary) {
  const Deadline clock;
  if (machine.default_link) cache.SetHandOver(machine.default_link->latency_seconds);
  Profiler profiler(model, machine, options, cache);
  // Single ops first: without all of them no plan can be priced by measured times.
  FusionGroups wanted = SingleOpGroups(graph);
  std::copy_if(groups.begin(), groups.end(), std::back_inserter(wanted),
               [](const std::vector<OpId>& group) { return group.size() > 1; });
  const std::vector<const std::vector<OpId>*> unknown = profiler.Unknown(wanted, summary);
  int done = 0;
  for (const std::vector<OpId>* group : unknown) {
    StopIfInterrupted();
    if (deadline.Passed()) break;
    profiler.Measure(*group, deadline, summary);
    progress(++done, static_cast<int>(unknown.size()));
  }
  summary.left_out = summary.distinct - summary.from_cache - summary.measured;

  GraphData annotated = graph.data();
  annotated.group_seconds.clear();
  for (const std::vector<OpId>& group : wanted) {
    std::optional<StatedSeconds> seconds = profiler.Known(group);
    if (!seconds) continue;
    if (group.size() == 1) {
      annotated.ops[static_cast<std::size_t>(group.front())].seconds = std::move(*seconds);
    } else {
      annotated.group_seconds.push_back({group, std::move(*seconds)});
    }
  }
  summary.seconds = clock.Elapsed();
  return ComputationGraph(std::move(annotated));
}

}  // namespace millrace
