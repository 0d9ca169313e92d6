// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/cost/cost_model.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/workloads/go_workloads.h"

// One of the workloads of GO on its host of P100s, and the judge of plans for it: the target `sim:contention`,
// whose timeline is the planners' proxy, too. Seconds.
namespace millrace {

// Refers to its own parts: it stays where it is made.
struct GoRow {
  GoWorkload workload;
  ComputationGraph graph;
  Machine machine;
  std::unique_ptr<CostModel> model;  // the analytic one
  CostedGraph single;                // every op by itself
  CostedGraph fused;                 // by GreedyFusion, as frameworks do
  double lower_bound = 0;            // of any fusion
};

std::unique_ptr<GoRow> MakeGoRow(const GoWorkload& workload);

}  // namespace millrace
