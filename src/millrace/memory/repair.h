// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// A plan that almost fits in memory, changed until it does.
namespace millrace {

// Looks at what lies on an overfull memory at its worst moment, moves the maker or the readers of one of those tensors
// to another device, and keeps the change where the memories overflow no more than before, all together. The sequence
// stays. Nothing where `moves` moves, each of which costs a simulation, do not suffice, or `stop` says so; it is asked
// before each move.
std::optional<Assignment> MoveUntilItFits(const CostedGraph& costed, Assignment start, std::int64_t moves,
                                          const std::function<bool()>& stop, Random& random);

}  // namespace millrace
