// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {

PlannedAssignment ScheduleList(const CostedGraph& costed) {
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  for (const int group : ByDecreasingRank(costed, UpwardRanks(costed, MeanSeconds(costed), MeanTransfer{}))) {
    schedule.Consider(group);
    schedule.Place(schedule.Choose(group, [&schedule](int device) { return schedule.DeviceEnd(device); }));
  }
  return schedule.Finish();
}

}  // namespace millrace
