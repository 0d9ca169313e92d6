// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/planner.h"

namespace millrace {

std::int64_t Planner::SamplesFor(const PlanningProblem&, std::int64_t wanted) const { return wanted; }

}  // namespace millrace
