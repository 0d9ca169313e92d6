// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/slow_optimum.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "millrace/simulate/contention.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"

namespace millrace::testing {
namespace {

// The least that `makespan` says of any plan; infinite where it always is.
double LeastOfAllPlans(const CostedGraph& costed, const std::function<double(const Assignment&)>& makespan) {
  Assignment assignment;
  assignment.placement.assign(static_cast<std::size_t>(costed.num_groups), 0);
  assignment.sequence.resize(static_cast<std::size_t>(costed.num_groups));
  std::iota(assignment.sequence.begin(), assignment.sequence.end(), 0);
  double best = std::numeric_limits<double>::infinity();
  const auto topological = [&] {
    std::vector<std::size_t> position(assignment.sequence.size());
    for (std::size_t i = 0; i < position.size(); ++i) position[static_cast<std::size_t>(assignment.sequence[i])] = i;
    for (int g = 0; g < costed.num_groups; ++g) {
      for (const GroupEdge& edge : costed.Predecessors(g)) {
        if (position[static_cast<std::size_t>(edge.group)] > position[static_cast<std::size_t>(g)]) return false;
      }
    }
    return true;
  };
  const std::function<void(int)> place = [&](int group) {
    if (group == costed.num_groups) {
      best = std::min(best, makespan(assignment));
      return;
    }
    for (int device = 0; device < costed.num_devices; ++device) {
      if (costed.Seconds(group, device) == std::numeric_limits<double>::infinity()) continue;
      assignment.placement[static_cast<std::size_t>(group)] = device;
      const std::int32_t tied = costed.colocation[static_cast<std::size_t>(group)];
      bool together = true;
      for (int other = 0; other < group; ++other) {
        together = together && (tied < 0 || costed.colocation[static_cast<std::size_t>(other)] != tied ||
                                assignment.placement[static_cast<std::size_t>(other)] == device);
      }
      if (together) place(group + 1);
    }
  };
  do {
    if (topological()) place(0);
  } while (std::next_permutation(assignment.sequence.begin(), assignment.sequence.end()));
  return best;
}

}  // namespace

double SlowOptimum(const CostedGraph& costed) {
  Simulator simulator(costed);
  double best = std::numeric_limits<double>::infinity();
  return LeastOfAllPlans(costed, [&](const Assignment& assignment) {
    const double makespan = simulator.Makespan(assignment);
    if (makespan < best && FitsInMemory(costed, assignment)) best = makespan;
    return best;
  });
}

double SlowContendedOptimum(const CostedGraph& costed) {
  return LeastOfAllPlans(costed, [&](const Assignment& assignment) {
    return ContendedSeconds(costed, assignment).value_or(std::numeric_limits<double>::infinity());
  });
}

}  // namespace millrace::testing
