// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/planning/planner.h"

// Where searches begin: the best plan of all heuristics that draw nothing.
namespace millrace {

// The heuristics whose best plan that is, HEFT first. Of equally fast plans the first one counts.
std::vector<std::string> StartHeuristicNames();

// The planner `start`: offers the problem's start, or else the best plan of these heuristics, one that fits in memory
// before one that does not. It takes at most a quarter of Budget::seconds, but for HEFT; asked to stop, it offers the
// best of those that it has by then.
std::unique_ptr<Planner> MakeStart(std::stop_token stop = {});

}  // namespace millrace
