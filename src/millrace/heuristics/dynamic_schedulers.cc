// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/ready_pairs.h"
#include "millrace/heuristics/upward_rank.h"

// ETF, DLS and min-min: one loop, three ideas of what makes a pair of ready group and device good.
namespace millrace {
namespace {

PlannedAssignment ScheduleByPairs(const CostedGraph& costed, PairMerits merits) {
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  ReadyPairs pairs(costed, schedule, std::move(merits));
  while (pairs.PlaceBest()) {
  }
  return schedule.Finish();
}

}  // namespace

PlannedAssignment ScheduleEtf(const CostedGraph& costed) {
  PairMerits merits;
  merits.level = UpwardRanks(costed, MeanSeconds(costed), MeanTransfer{});
  return ScheduleByPairs(costed, std::move(merits));
}

PlannedAssignment ScheduleDls(const CostedGraph& costed) {
  const std::vector<double> medians = MedianSeconds(costed);
  const std::vector<double> levels = UpwardRanks(costed, medians, MeanTransfer{});
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  PairMerits merits;
  merits.merit.reserve(costed.seconds.size());
  for (std::size_t pair = 0; pair < costed.seconds.size(); ++pair)
    merits.merit.push_back(levels[pair / devices] + (medians[pair / devices] - costed.seconds[pair]));
  return ScheduleByPairs(costed, std::move(merits));
}

PlannedAssignment ScheduleMinMin(const CostedGraph& costed) {
  PairMerits merits;
  merits.merit.reserve(costed.seconds.size());
  for (const double seconds : costed.seconds) merits.merit.push_back(-seconds);
  return ScheduleByPairs(costed, std::move(merits));
}

}  // namespace millrace
