// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/cost_model.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/plan/plan.h"

// Fusion by a fixed rule: the classical pass every compiler has.
namespace millrace {

// In topological order every elementwise or normalisation op joins the group of a producer while the result stays legal
// (plan/fusion_table.h) and the groups keep an order. The producer whose tensor is largest goes first, ties to the
// later one. Groups are numbered by their first op in topological order. Deterministic, O((ops + edges) log ops) on
// graphs whose groups are small.
FusionGroups GreedyFusion(const ComputationGraph& graph);

// The same rule where plans must keep to something (cost/steering.h): kept groups stand, and ops pinned apart stay
// apart. For other models it is GreedyFusion of their graph.
FusionGroups GreedyFusion(const CostModel& model);

}  // namespace millrace
