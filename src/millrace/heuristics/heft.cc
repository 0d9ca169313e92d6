// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {

PlannedAssignment ScheduleHeft(const CostedGraph& costed, PartialSchedule::Gaps gaps) {
  PartialSchedule schedule(costed, gaps);
  const std::vector<double> ranks = UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology));
  for (const int group : ByDecreasingRank(costed, ranks)) {
    schedule.Consider(group);
    schedule.Place(schedule.FirstToFinish(group));
  }
  return schedule.Finish();
}

}  // namespace millrace
