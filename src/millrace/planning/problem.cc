// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/problem.h"

#include "millrace/errors/errors.h"

namespace millrace {

const CostModel& PlanningProblem::proxy() const {
  if (proxy_ == nullptr) throw InvalidInput("a planner that looks at single ops needs the cost model of the graph");
  return *proxy_;
}

}  // namespace millrace
