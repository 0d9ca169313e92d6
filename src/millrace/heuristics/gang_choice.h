// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "millrace/heuristics/partial_schedule.h"

// Which groups may take a whole gang. A heuristic that looks at one group at a time sees that several units finish it
// sooner and never that other groups could have used them: left alone it runs everything on the largest gang.
namespace millrace {

// Versions of the costed graph that a heuristic should be run on, where devices are closed (infinite seconds) to some
// groups: none are; those that take more than the group's share of all units; those that take more units than the group
// needs. The share is the number of units over the number of groups that would run beside this one if every group
// started as soon as its inputs are made and took its least seconds on a device of the fewest units. Groups with a
// colocation keep all their devices. The first version is the graph itself; it is the only one where all devices have
// equally many units.
//
// The idea of dividing processors by the width of the graph follows Radulescu, van Gemund, "A Low-Cost Approach towards
// Mixed Task and Data Parallel Scheduling", ICPP 2001.
std::vector<CostedGraph> GangChoices(const CostedGraph& costed);

// The best by its own estimate of what the heuristic makes of all choices; ties to the earlier choice.
PlannedAssignment BestGangChoice(const CostedGraph& costed,
                                 const std::function<PlannedAssignment(const CostedGraph&)>& schedule);

}  // namespace millrace
