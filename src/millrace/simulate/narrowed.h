// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"
#include "millrace/simulate/path_bounds.h"

// What all plans that take less than a limit have in common. Seconds.
//
// A device on which a group's paths reach the limit is closed to it; two groups joined by a transfer that would reach
// it share a device from then on, as if they were colocated; two that together, with all that share their devices, take
// too long are kept apart. Each makes other paths longer, so this is repeated until nothing changes. It is at its best
// where transfers are dear.
namespace millrace {

struct Narrowed {
  bool possible = true;  // false: no plan takes less than the limit
  CostedGraph costed;    // with more colocations, and infinite seconds on the devices closed
  ApartGroups apart;     // empty: none are known to be
  PathBounds paths;      // of all this
};

// Holds for the linear timeline with the links of `costed`. Where they are those of TopologyForAnyTimeline it holds for
// the contended one, too. Plans of the result are plans of the graph it was made from.
Narrowed NarrowBelow(CostedGraph costed, double limit, ApartGroups apart = {});

// The same with two groups on one device, or on two.
Narrowed NarrowTied(const Narrowed& narrowed, double limit, int a, int b);
Narrowed NarrowApart(const Narrowed& narrowed, double limit, int a, int b);

}  // namespace millrace
