// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/optimistic_cost.h"
#include "millrace/heuristics/ready_queue.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

std::vector<double> MeanCosts(const CostedGraph& costed, const std::vector<double>& costs) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  std::vector<double> means(static_cast<std::size_t>(costed.num_groups), 0.0);
  for (std::size_t g = 0; g < means.size(); ++g) {
    double count = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      if (!std::isfinite(costed.seconds[g * devices + d])) continue;
      means[g] += costs[g * devices + d];
      count += 1;
    }
    means[g] /= count;
  }
  return means;
}

}  // namespace

PlannedAssignment SchedulePeft(const CostedGraph& costed) {
  const std::vector<double> costs = OptimisticCosts(costed, MeanTransferOf(costed.topology));
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kFill);
  ReadyQueue ready(costed, MeanCosts(costed, costs));
  while (!ready.empty()) {
    const int group = ready.Pop();
    schedule.Consider(group);
    const double* const row =
        costs.data() + static_cast<std::size_t>(group) * static_cast<std::size_t>(costed.num_devices);
    schedule.Place(schedule.Choose(group, [&schedule, row, group](int device) {
      return schedule.EarliestFinish(device) + row[device] + schedule.BoundSeconds(group, device);
    }));
  }
  return schedule.Finish();
}

}  // namespace millrace
