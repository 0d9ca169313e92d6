// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/upward_rank.h"

// What must still follow a group on each device, if every successor were free to choose. Seconds.
namespace millrace {

// By group * devices + device: the longest, over successors, of what the successor and all after it take at the least.
// A successor stays on the device for its own seconds there, or pays the mean transfer to the best place of all. 0 for
// groups without successors.
// Source: Arabnejad, Barbosa, "List Scheduling Algorithm for Heterogeneous Systems by an Optimistic Cost Table", IEEE
// TPDS 2014.
std::vector<double> OptimisticCosts(const CostedGraph& costed, const MeanTransfer& transfer);

}  // namespace millrace
