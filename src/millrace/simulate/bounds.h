// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"

// What no plan can beat. Seconds.
namespace millrace {

// Given the groups: max(critical path with every group at its fastest device and free transfers; sum over groups of the
// least seconds x units any device needs, over the number of units).
double LowerBound(const CostedGraph& costed);

// True under any fusion: the same two terms over single ops that count flops only, or stated seconds. An op that also
// appears in group_seconds counts with its share of the least time stated for a group of it, where that is less.
double FusionFreeBound(const ComputationGraph& graph, const Machine& machine);

// Share of `makespan` above the bound, (makespan - bound) / bound; 0 where the bound is 0.
double Gap(double makespan, double bound);

}  // namespace millrace
