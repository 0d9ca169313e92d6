// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/plan/plan.h"

// What one plan of a graph does otherwise than another, and what each difference is worth. Seconds.
namespace millrace {

// Ops that tensors join and that the one plan has on one device and the other on another.
struct MovedOps {
  int from = 0;  // device
  int to = 0;
  std::vector<OpId> ops;       // ascending
  double seconds_on_from = 0;  // of the groups of the second plan that are made of these ops alone
  double seconds_on_to = 0;
  // Of the second plan with these groups back where the first has them, its order kept, memory aside. Nothing where
  // they are fused with others or cannot run there, and for small moves of plans that have very many of them.
  std::optional<double> makespan_if_back;
};

struct PlanDifference {
  std::vector<MovedOps> moved;  // what costs most to put back first; then by their seconds
  int moved_ops = 0;
  int regrouped_ops = 0;  // ops that are not fused with the same ops
};

// What `second` does otherwise than `first`; both valid for the graph, the second one priced.
PlanDifference DifferenceOf(const ComputationGraph& graph, const Plan& first, const Plan& second,
                            const CostedGraph& costed_second);

}  // namespace millrace
