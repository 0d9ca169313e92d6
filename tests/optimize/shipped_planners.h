// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/optimize/planners.h"

namespace millrace::testing {

// The planners with the weights that come with Millrace, where these are to be found.
inline const PlannerRegistry& ShippedPlanners() {
  static const PlannerRegistry planners = MakePlannerRegistry();
  return planners;
}

}  // namespace millrace::testing
