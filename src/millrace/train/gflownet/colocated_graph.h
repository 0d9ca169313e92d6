// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/graph/computation_graph.h"
#include "millrace/random/random.h"

// Graphs some of whose ops must share a device, made from graphs without such ops, for the GFlowNet to be trained on.
// Throws InvalidInput where the result would pass what a graph may have.
namespace millrace {

// So many copies of the graph side by side, without edges between them: micro-batches, each op of which shares its
// weights, hence its device, with the same op of all others. Costs are the graph's. `copies` >= 1.
ComputationGraph SideBySide(const ComputationGraph& graph, int copies);

// The graph with a share of its ops, 0.2 to 1, dealt evenly to sets of 2 to 8 ops in the mean.
ComputationGraph WithRandomColocations(const ComputationGraph& graph, Random& random);

}  // namespace millrace
