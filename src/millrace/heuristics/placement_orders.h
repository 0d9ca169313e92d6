// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/partial_schedule.h"

// A placement that was made without an order in mind, in every order that an engineer would try.
namespace millrace {

// A placement in one order. Seconds.
struct OrderedPlacement {
  std::string order;          // file, upward-rank, depth-first, breadth-first, least-memory, readiness
  PlannedAssignment planned;  // with its makespan by the linear proxy
};

// file: as the graph lists its ops, as far as their inputs allow. upward-rank, readiness: what an executor starts next
// (placed_list.h). depth-first, least-memory: memory_saving_order.h. breadth-first: by the number of groups on the
// longest way from a source. O((groups + edges) log groups).
std::vector<OrderedPlacement> PlacedInOrders(const CostedGraph& costed, const std::vector<int>& placement);

// The fastest of them by the proxy; ties to the earlier one.
PlannedAssignment BestOfOrders(const CostedGraph& costed, const std::vector<int>& placement);

}  // namespace millrace
