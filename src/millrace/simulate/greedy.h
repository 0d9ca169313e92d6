// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"
#include "millrace/simulate/timeline.h"

// The timeline of a machine whose devices do not wait for their turn: what sim:greedy measures, and what frameworks
// with a ready queue per device do. Seconds.
namespace millrace {

// Whenever the units of a device are free it starts, of the groups placed on it, the one whose inputs were there first;
// the sequence breaks ties, and nothing else. Of devices that share a unit the one goes first whose group was ready
// first. Everything that happens at a time is known before anything starts at it.
// Transfers share channels (contention.h) where Topology::proxy is contended.
Timeline GreedyTimeline(const CostedGraph& costed, const Assignment& assignment);

// How much a plan depends on its sequence being kept: its greedy makespan over that of the proxy; 1 without groups.
// Above 1 a device that runs whatever is ready makes it slower.
double Fragility(const CostedGraph& costed, const Assignment& assignment);

}  // namespace millrace
