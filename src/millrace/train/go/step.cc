// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/step.h"

#include <algorithm>
#include <utility>

#include "millrace/go/network.h"

namespace millrace {

GoStep MakeGoStep(const GoProblem& problem, std::shared_ptr<const DecisionObservation> before, Decisions chosen) {
  GoStep step{.before = std::move(before)};
  Decisions known;
  for (std::size_t task = 0; task < kTasks.size(); ++task) {
    if (!chosen.Has(kTasks[task])) continue;
    DescribeDecisions(problem, known, step.told[task]);
    if (kTasks[task] == Task::kPlacement) known.device = chosen.device;
    if (kTasks[task] == Task::kPriority) known.priority = chosen.priority;
    if (kTasks[task] == Task::kFusion) known.fusion = chosen.fusion;
  }
  step.chosen = std::move(chosen);
  return step;
}

RowWindow PlaceWindow(int rows, int most_rows, double position) {
  // A task's layer looks one segment back, and there is one after the other.
  constexpr int kLead = static_cast<int>(kTasks.size()) * kSegment;
  if (rows <= most_rows) return {.first = 0, .counted = 0, .end = rows};
  const int segments = (rows + kSegment - 1) / kSegment;
  const int width = std::max(1, most_rows / kSegment);
  const int begin = std::min(static_cast<int>(position * (segments - width + 1)), segments - width) * kSegment;
  return {.first = std::max(0, begin - kLead), .counted = begin, .end = std::min(rows, begin + width * kSegment)};
}

}  // namespace millrace
