// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "millrace/heuristics/best_of.h"

// Plans that fit in memory, from sources that only estimate whether theirs will.
namespace millrace {

// On a machine without capacities this is RunSource. Else the source is first shown unlimited memory, since it may be
// too careful where all is well, and what fits is kept; then the real capacities, unless all it offered did fit; then,
// while nothing fits, lowered ones: first each overfull memory by as much as the nearest offer overflowed it, then all
// memories evenly, down to a proportional share of the weights. The last resorts, which BestOf::frugal tells of, are to
// move groups of its nearest offer about (repair.h), schedules that spare memory (frugal.h), and to repair those. What
// is kept, the best of all tries, always fits the real capacities. Nothing if all fail; a plan may still exist.
//
// Large graphs get fewer tries. A time limit is for all tries together: none is begun after it, and each may take a
// share of what is left, which a source with one answer does not heed.
std::optional<BestOf> RunSourceInMemory(const CandidateSource& source, const CostedGraph& costed,
                                        const SourceBudget& budget, Random& random, std::size_t most);

}  // namespace millrace
