// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "millrace/heuristics/list_schedulers.h"

namespace millrace {
namespace {

// The device where everything takes the least, groups it cannot run counted at their fastest.
int LeastTotalDevice(const CostedGraph& costed) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  std::vector<double> totals(devices, 0.0);
  for (std::size_t g = 0; g < static_cast<std::size_t>(costed.num_groups); ++g) {
    const auto row = costed.seconds.begin() + static_cast<std::ptrdiff_t>(g * devices);
    const double fastest = *std::min_element(row, row + static_cast<std::ptrdiff_t>(devices));
    for (std::size_t d = 0; d < devices; ++d) {
      const double here = costed.seconds[g * devices + d];
      totals[d] += std::isfinite(here) ? here : fastest;
    }
  }
  return static_cast<int>(std::min_element(totals.begin(), totals.end()) - totals.begin());
}

}  // namespace

PlannedAssignment ScheduleSequential(const CostedGraph& costed) {
  const int home = LeastTotalDevice(costed);
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  for (const std::int32_t group : costed.topological_order) {
    schedule.Consider(group);
    if (schedule.MayRun(group, home)) {
      schedule.Place(home);
      continue;
    }
    schedule.Place(schedule.Choose(group, [&schedule, &costed, group](int device) {
      return costed.Seconds(group, device) + schedule.RestOfColocation(group, device);
    }));
  }
  PlannedAssignment planned = schedule.Finish();
  planned.assignment.sequence.assign(costed.topological_order.begin(), costed.topological_order.end());
  return planned;
}

}  // namespace millrace
