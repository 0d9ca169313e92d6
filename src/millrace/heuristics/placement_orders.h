// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/partial_schedule.h"

// A placement that was made without an order in mind, in every order that an engineer would try.
namespace millrace {

// A placement in one order. Seconds.
struct OrderedPlacement {
  std::string order;          // file, upward-rank, depth-first, breadth-first, least-memory, readiness, there-and-back
  PlannedAssignment planned;  // with its makespan by the linear proxy
};

// file: as the graph lists its ops, as far as their inputs allow. upward-rank, readiness: what an executor starts next
// (placed_list.h). depth-first, least-memory: memory_saving_order.h. breadth-first: by the number of groups on the
// longest way from a source. there-and-back: OrderThereAndBack from the fastest of the six. O((groups + edges) log
// groups).
std::vector<OrderedPlacement> PlacedInOrders(const CostedGraph& costed, const std::vector<int>& placement);

// All of these but there-and-back, which takes longer than they do together.
std::vector<OrderedPlacement> PlacedInFixedOrders(const CostedGraph& costed, const std::vector<int>& placement);

// A placement's order from one it has: an executor runs the reversed graph by when groups finished, then the graph by
// when they finished in reverse, which is how long it really takes from each group to the end, and so on for some
// rounds, on very large graphs for one. The fastest by the proxy, the given one among them. With it human placements of
// training steps take 7 % less time under contention than in the best of the other orders (docs/results/search.md). Its
// source is that of forward_backward.h.
PlannedAssignment OrderThereAndBack(const CostedGraph& costed, PlannedAssignment from);

// One order of all groups: of those whose predecessors are done, the one of the least key goes next, ties to the lower
// group. `keys` by group.
std::vector<int> LeastKeyFirst(const CostedGraph& costed, const std::vector<std::int32_t>& keys);

// The fastest of all orders by the proxy; ties to the earlier one.
PlannedAssignment BestOfOrders(const CostedGraph& costed, const std::vector<int>& placement);

}  // namespace millrace
