// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "millrace/planning/best_of.h"

// Plans that fit in memory, from planners that only estimate whether theirs will.
namespace millrace {

// On a machine without capacities this is RunPlanner. Else the planner is first shown unlimited memory, since it may be
// too careful where all is well, and what fits is kept; then, unless all it offered did fit, the real capacities; then
// lowered ones: first each overfull memory by as much as the nearest offer overflowed it, then all memories evenly,
// down to a proportional share of the weights. Planners with one answer see lowered ones even where something fits
// already, since a list scheduler pressed for room may make the better plan. The last resorts where nothing fits, which
// BestOf::memory_saving tells of, are to move groups of its nearest offer about (repair.h), schedules that spare memory
// (memory_saving.h), and to repair those. What is kept, the best of all tries, always fits the real capacities. Nothing
// if all fail; a plan may still exist.
//
// A search is not shown unlimited memory where the plain plan of a list scheduler overflows: it gets the real
// capacities at once, half its budget from the fastest plan that list schedulers find in memory (or from the problem's
// start), half from its own start. It never answers a slower plan than it could have begun with.
//
// A little more memory may still end in a somewhat worse plan: where all that a planner offers fits, that is its
// answer, and a last resort may do better than the planner.
//
// Large graphs get fewer tries. A time limit is for all tries together: none is begun after it, and each may take a
// share of what is left, which a planner with one answer does not heed.
//
// Where fusion is open, only what the planner offers is looked at.
std::optional<BestOf> RunPlannerInMemory(const Planner& planner, const PlanningProblem& problem, const Budget& budget,
                                         Random& random, std::size_t most);

}  // namespace millrace
