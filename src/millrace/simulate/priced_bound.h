// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"

// A lower bound where weights do not fit in every memory: a path, the units and the memories looked at together.
// Seconds.
//
// Let a path and every unit have a weight, all weights together 1, and a byte of weights on a memory a price in
// seconds. No plan is shorter than the weighted mean of the time on the path and the times the units are busy. A plan
// that fits pays at most prices x capacities for all its weights. So it takes at least that mean + what its weights
// cost - prices x capacities, and mean + cost is bounded group by group: each is free to take the device where its
// seconds and its bytes cost least. With the path alone or the units alone, and without prices, that is the longest
// path or the weighted work (work_bound.h). Of a chain on a fast device that has no room for it and a slow one that
// has, it knows how much must run on the slow one.
//
// Lagrangian relaxation, as Fisher, "The Lagrangian relaxation method for solving integer programming problems",
// 1981; by subgradients with Polyak's steps. True wherever they stop, deterministic. Transfers and everything but
// weights in memory are left out.
namespace millrace {

// No plan that fits in memory takes less, under either timeline. 0 where all weights fit in any memory, for other
// bounds know as much then, and where some fit nowhere. Looks at most 300 times at each group and device, fewer times
// on large graphs.
double PricedBound(const CostedGraph& costed);

}  // namespace millrace
