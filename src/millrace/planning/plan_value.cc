// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/plan_value.h"

#include <algorithm>
#include <memory>
#include <span>

#include "millrace/simulate/overlapped_runs.h"
#include "millrace/simulate/peak_memory.h"

namespace millrace {

PlanValue MakePlanValue(Objective::Aim aim, const CostedGraph& costed) {
  if (aim == Objective::Aim::kMemory) {
    return [meter = std::make_shared<PeakMemoryMeter>(costed)](const Assignment& plan, const Timeline& timeline) {
      const std::span<const double> peaks = meter->Measure(plan, timeline);
      return peaks.empty() ? 0.0 : *std::max_element(peaks.begin(), peaks.end());
    };
  }
  if (aim == Objective::Aim::kThroughput) {
    return [runs = std::make_shared<OverlappedRuns>(costed)](const Assignment& plan, const Timeline&) {
      return runs->Period(plan);
    };
  }
  return [](const Assignment&, const Timeline& timeline) { return timeline.makespan; };
}

}  // namespace millrace
