// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/heuristics/partial_schedule.h"
#include "millrace/planning/planner.h"

// HEFT with transfers counted for more or less than they take on average. Seconds.
//
// The upward rank takes every transfer for a mean one, as if each group ran on a device of its own. How far that is
// from what will be paid differs from graph to graph: a plan that keeps neighbours together pays little, one on dear
// links waits for what it cannot avoid. So ranks are made with the mean transfer times 0, 1/4, 1/2, 1, 2, 4 and 8, and
// a group goes where it finishes first, or where its finish and a quarter of the seconds of all its transfers are least
// together. Source of the ranks: Topcuoglu, Hariri, Wu, "Performance-Effective and Low-Complexity Task Scheduling for
// Heterogeneous Computing", IEEE TPDS 2002.
namespace millrace {

// What transfers count for: in the ranks, in mean transfers; and in the choice of a device, beside the finish.
struct TransferWeights {
  double rank = 1;
  double device = 0;
};

// HEFT into gaps with these weights; with the usual ones it is HEFT.
PlannedAssignment ScheduleWeightedHeft(const CostedGraph& costed, const TransferWeights& weights);

// The planner `weighted-heft`: offers the plan of each pair of weights, HEFT's own first, on machines with gangs each
// for the best gang choice. Budget::seconds ends it after the plan at hand.
PlannerTraits WeightedHeftTraits();
std::unique_ptr<Planner> MakeWeightedHeft();

}  // namespace millrace
