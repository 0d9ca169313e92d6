// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"

// The part that each group plays in a graph that repeats itself: time steps of a recurrence, micro-batches and stacked
// cells are the same groups over and over, which people place alike.
//
// Source: colour refinement (Weisfeiler, Lehman, 1968), stopped after a few rounds, as whole neighbourhoods differ near
// the ends of a repetition.
namespace millrace {

// By group the number of its role, counted from 0 in topological order. Groups of one role have the same layer and take
// as long on each device, and so have what they read and what reads it, up to `rounds` edges away. How groups are
// numbered does not matter. O(rounds x (groups + edges)).
std::vector<std::int32_t> RolesOf(const CostedGraph& costed, int rounds);

}  // namespace millrace
