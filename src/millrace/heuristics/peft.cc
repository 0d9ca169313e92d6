// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/ready_queue.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

// By group * devices + device: the least that must follow a group that ran there, were every successor free to choose.
// A successor stays for its own seconds or pays the mean transfer to the best place of all.
std::vector<double> OptimisticCosts(const CostedGraph& costed, const MeanTransfer& transfer) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  std::vector<double> costs(costed.seconds.size(), 0.0);
  for (auto group = costed.topological_order.rbegin(); group != costed.topological_order.rend(); ++group) {
    double* const row = costs.data() + static_cast<std::size_t>(*group) * devices;
    for (const GroupEdge& edge : costed.Successors(*group)) {
      const std::size_t next = static_cast<std::size_t>(edge.group) * devices;
      double anywhere = std::numeric_limits<double>::infinity();
      for (std::size_t d = 0; d < devices; ++d)
        anywhere = std::min(anywhere, costs[next + d] + costed.seconds[next + d]);
      anywhere += transfer.Seconds(edge.bytes);
      for (std::size_t d = 0; d < devices; ++d)
        row[d] = std::max(row[d], std::min(costs[next + d] + costed.seconds[next + d], anywhere));
    }
  }
  return costs;
}

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
      return schedule.EarliestFinish(device) + row[device] + schedule.RestOfColocation(group, device);
    }));
  }
  return schedule.Finish();
}

}  // namespace millrace
