// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/timeline.h"

// All that the cost model says of one plan: when what runs, whether it fits, how far it is from the best. Seconds,
// bytes.
namespace millrace {

struct Simulation {
  Timeline timeline;
  std::vector<double> peak_memory;  // by device: of the memory it has, which others may share
  bool feasible = true;             // every memory's peak fits
  double lower_bound = 0;           // bounds.h, for the plan's groups
  double proven_bound = 0;          // what proven_bound.h holds it against
  double fragility = 1;             // greedy.h
};

// Of the record's plan on its machine, by its proxy. The plan must be valid for the graph (plan/verify.h). Throws
// InvalidInput where all times together are too large.
Simulation Simulate(const ComputationGraph& graph, const PlanRecord& record);

}  // namespace millrace
