// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "millrace/heuristics/finish_tree.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {

PlannedAssignment ScheduleMaxMin(const CostedGraph& costed) {
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  const std::vector<int> positions = TopologicalPositions(costed);
  FinishTree ready(costed, positions);
  const auto let_in = [&](int group) {
    schedule.Consider(group);
    ready.Insert(group, schedule.arrivals());
  };
  std::vector<std::int32_t> waiting;
  for (int group = 0; group < costed.num_groups; ++group) {
    waiting.push_back(static_cast<std::int32_t>(costed.Predecessors(group).size()));
    if (waiting.back() == 0) let_in(group);
  }
  std::vector<double> device_end(static_cast<std::size_t>(costed.num_devices), 0.0);
  while (!ready.empty()) {
    const int group = ready.Latest(device_end);
    ready.Remove(group);
    schedule.Consider(group);
    schedule.Place(schedule.Choose(group, [&schedule, group](int device) {
      return schedule.EarliestFinish(device) + schedule.BoundSeconds(group, device);
    }));
    for (int device = 0; device < costed.num_devices; ++device)
      device_end[static_cast<std::size_t>(device)] = schedule.DeviceEnd(device);
    for (const GroupEdge& edge : costed.Successors(group)) {
      if (--waiting[static_cast<std::size_t>(edge.group)] == 0) let_in(edge.group);
    }
  }
  return schedule.Finish();
}

}  // namespace millrace
