// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "millrace/planning/registry.h"

// The heuristics as planners, by name.
namespace millrace {

// Adds, in the order reports list them: sequential, random, list, heft, heft-append, weighted-heft, forward-backward,
// cpop, peft, etf, dls, minmin, maxmin, randomised-list, metis, expert, placements. `sequential` is the trivial
// stand-in.
void AddHeuristics(PlannerRegistry& registry);

// One of them. Throws InvalidInput where there is none of this name.
std::unique_ptr<Planner> MakeHeuristic(std::string_view name);

// `heft`: with and without insertion; the better one is what others are held against.
std::unique_ptr<Planner> MakeHeftReference();

// The makespan that rewards are scaled by: of the same two, without a choice of gangs. Seconds.
double HeftReferenceMakespan(const CostedGraph& costed);

// `heuristics`: each that draws nothing.
std::unique_ptr<Planner> MakeAllHeuristics();

}  // namespace millrace
