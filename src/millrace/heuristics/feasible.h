// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "millrace/heuristics/best_of.h"

// Plans that fit in memory, from sources that only estimate whether theirs will.
namespace millrace {

// RunSource; and where nothing it offers fits, again with the capacities the source sees lowered, until something does:
// first each overfull memory by as much as the nearest offer overflowed it, then all memories evenly, down to a
// proportional share of the weights. What is kept always fits the real capacities. Nothing if all tries fail; a plan
// may still exist. Where capacities are limited, the first try has half of a time limit and the others share the rest.
// On a machine without capacities this is RunSource.
std::optional<BestOf> RunSourceInMemory(const CandidateSource& source, const CostedGraph& costed,
                                        const SourceBudget& budget, Random& random, std::size_t most);

}  // namespace millrace
