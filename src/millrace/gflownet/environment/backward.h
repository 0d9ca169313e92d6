// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// Backward trajectories: one of the ways to build a finished plan, whatever made it.
namespace millrace {

// Takes the plan apart under the uniform backward policy P_B (every removable group equally likely, see
// State::removable) and returns the actions in forward order: they rebuild the plan's chains. The assignment must be
// valid for the costed graph. O(groups + edges).
std::vector<Action> DrawTrajectory(const CostedGraph& costed, const Assignment& assignment, Random& random);

// The actions that build the plan by placing groups in the order they start, equal starts as in its sequence. List
// scheduling takes this order, so it is the easiest one to learn from an example.
std::vector<Action> TrajectoryByStart(const Environment& environment, const Assignment& assignment);

}  // namespace millrace
