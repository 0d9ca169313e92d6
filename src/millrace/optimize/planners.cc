// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/planners.h"

#include "millrace/gflownet/planners.h"
#include "millrace/go/planner.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/search/searches.h"

namespace millrace {

PlannerRegistry MakePlannerRegistry(const PlannerFiles& files, int threads) {
  PlannerRegistry registry;
  AddHeuristics(registry);
  AddSearches(registry);
  AddGFlowNetPlanners(registry, files.gflownet_weights, threads);
  AddGoPlanners(registry, files.go_weights, files.go_moves_weights, threads);
  return registry;
}

}  // namespace millrace
