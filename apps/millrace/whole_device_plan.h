// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"

// What `run` does where nobody gives a plan.
namespace millrace::cli {

// Greedy fusion, every group on the device with the most flops per second (the fewest units among equals), in
// topological order.
Plan WholeDevicePlan(const ComputationGraph& graph, const Machine& machine);

}  // namespace millrace::cli
