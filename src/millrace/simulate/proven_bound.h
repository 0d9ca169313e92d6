// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"

// The best we can prove, without a search, of all plans of given groups. Seconds.
namespace millrace {

// No plan that fits in memory takes less, under the linear timeline or the contended one: the largest of LowerBound
// (bounds.h), paths with their transfers (path_bounds.h), weighted work (work_bound.h), both at once with memories
// that hold only so much (priced_bound.h), energy (energy_bound.h) and, for up to 256 groups, the largest limit that
// no plan can stay below by narrowing (narrowed.h); rounded up to a step that all times are multiples of
// (time_step.h). Takes a fraction of a second on 100 groups, and about as long as a few simulations per device on
// large graphs.
double ProvenBound(const CostedGraph& costed);

// What a plan is held against. One that does not fit in memory may take less than all that do: memories without limits
// bound it.
double ProvenBoundFor(const CostedGraph& costed, bool fits);

// The same for the linear timeline alone: larger where several devices share a memory and their links differ.
double LinearProvenBound(const CostedGraph& costed);

}  // namespace millrace
