// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// The order of groups whose devices are settled already: what a runtime's ready queues would make of a placement.
namespace millrace {

// As a machine with one ready queue per device would go about it: whenever a device is idle it starts, of the groups
// placed on it whose inputs have arrived, the one of highest priority; equal ones in topological order. Never waits for
// a better one that is not ready yet. The sequence goes by start. `placement` by group, where each can run; O((groups +
// edges) log groups + groups x devices).
Assignment ScheduleOnPlacement(const CostedGraph& costed, std::vector<int> placement,
                               std::span<const double> priorities);

// The two usual priorities. By upward rank with what groups and transfers take on average (upward_rank.h); and all
// equal: first ready first served, as frameworks do it that have no scheduler.
std::vector<double> RankPriorities(const CostedGraph& costed);
Assignment ScheduleByReadiness(const CostedGraph& costed, std::vector<int> placement);

}  // namespace millrace
