// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/search/placement_moves.h"

// The first steps of a search for placements on a graph that repeats itself: whole parts of it, such as a layer in all
// its time steps, go to another device. Of a large graph a search sees so few plans that moves of a thousandth of it
// come to nothing. Seconds.
namespace millrace {

// Moves parts while that helps. A part is a cluster of roles (heuristics/roles.h), of which there are up to some eight
// for each device; they are tried by their work, the heaviest first, on each of the devices that have least to do.
// `judge` says how long a placement takes, or anything above the limit that it is given where it is more than that;
// `now` is what it said of the placement to begin with, and `done` is asked before each call of it. Returns how long
// the placement takes in the end. Does nothing where a mean role has fewer than three groups.
double DescendByRoles(const CostedGraph& costed, double now,
                      const std::function<double(const std::vector<int>&, double)>& judge,
                      const std::function<bool()>& done, MovingPlacement& moving);

// Placements that one pass over the parts asks for, at most; 0 where it does nothing.
std::int64_t MostTriesOfParts(const CostedGraph& costed);

}  // namespace millrace
