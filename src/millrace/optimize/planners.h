// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/planning/registry.h"

// Every planner of Millrace. A new one is added in its room; a new room has its line here.
namespace millrace {

struct PlannerFiles {
  std::string gflownet_weights;       // empty: the ones that came with Millrace (network/model_file.h)
  std::string go_weights;             // likewise
  std::string go_moves_weights = {};  // likewise
};

// Learned planners draw on so many threads, with the same plans at any number.
PlannerRegistry MakePlannerRegistry(const PlannerFiles& files = {}, int threads = 1);

}  // namespace millrace
