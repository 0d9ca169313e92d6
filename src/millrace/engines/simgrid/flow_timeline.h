// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"
#include "millrace/engines/simgrid/flow_problem.h"
#include "millrace/simulate/timeline.h"

// A plan's timeline with the network of SimGrid (Casanova, Legrand, Suter, "Versatile, Scalable, and Accurate
// Simulation of Distributed Applications and Platforms", 2014): transfers that are under way at one time on one channel
// share its bandwidth, each getting the same, where the contended timeline serves one after the other. Seconds.
//
// Groups keep the plan's order on each unit. A tensor goes to each destination memory once, to the device of its first
// reader there by the sequence, as under contention, at the latency and at most the bandwidth of its pair's link. A
// channel has the bandwidth of its fastest link.
namespace millrace {

// Whether the module that knows SimGrid is there: it is built where SimGrid is installed.
bool HasSimGrid();

// As SimGrid sees the plan: activity g is group g, transfers follow. `scale` times a second is SimGrid's unit of time.
// Every group can run where it is placed.
FlowProblem FlowProblemOf(const CostedGraph& costed, const Assignment& assignment, double scale);

// The same timeline every time. Runs SimGrid in a process of its own. Throws InvalidInput where there is no SimGrid,
// WorkFailed where it fails, Interrupted.
Timeline FlowTimeline(const CostedGraph& costed, const Assignment& assignment);

}  // namespace millrace
