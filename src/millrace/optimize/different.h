// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/heuristics/best_of.h"

// Choosing plans that are good and different out of those one source has offered.
namespace millrace {

// At most `keep` of the plans, which ascend by makespan: walking down, one is taken when it is at least
// `least_distance` (ChainEditDistance, 0..1) away from every taken one; places left over go to the best of the rest.
std::vector<RatedAssignment> SelectDifferent(const CostedGraph& costed, std::vector<RatedAssignment> plans,
                                             std::size_t keep, double least_distance);

}  // namespace millrace
