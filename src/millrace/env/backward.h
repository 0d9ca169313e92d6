// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/env/environment.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// Trajectories drawn backwards: from a finished plan of any origin, one of the ways to build it.
namespace millrace {

// Takes the plan apart under the uniform backward policy P_B (every removable group equally likely, see
// State::removable) and returns the actions in forward order. Replaying them rebuilds the plan's chains. The assignment
// must be valid for the costed graph. O(groups + edges).
std::vector<Action> DrawTrajectory(const CostedGraph& costed, const Assignment& assignment, Random& random);

// The way to build the plan that places groups in the order they start, of equal starts as in its sequence: the order
// list scheduling would have taken, and so the easiest to learn from an example.
std::vector<Action> TrajectoryByStart(const Environment& environment, const Assignment& assignment);

}  // namespace millrace
