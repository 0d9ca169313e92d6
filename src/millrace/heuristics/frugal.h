// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/heuristics/candidate_source.h"

// Schedules that spare memory first and time second: what is left to try where no fast plan fits.
namespace millrace {

enum class FrugalRule {
  kLeastIncrease,  // the ready group that leaves the least behind: bytes it makes less those it is the last to read
  kDepthFirst,     // the group that became ready last, so that a branch is finished before the next is begun
};

// All groups in an order that frees tensors early, judged as on one memory. Equal groups: the one that became ready
// last, then topological order. O((groups + edges + reads) log groups). Bytes.
//
// Least increase is the greedy rule for the register allocation problem of Sethi ("Complete Register Allocation
// Problems", SIAM J. Computing 1975), which is NP-hard for graphs that are no trees.
std::vector<int> FrugalOrder(const CostedGraph& costed, FrugalRule rule);

// Offers each order, and the topological one, with several placements: everything on the device with the most memory;
// and for each group in turn a device that seems to have room (MemoryLedger), where it adds the fewest bytes, where
// most room is left, or where it finishes first, with a byte it adds there counted as a delay, from not at all to a
// lot. Needs no budget: kFrugalOffers at most.
inline constexpr int kFrugalOffers = 24;
std::unique_ptr<CandidateSource> MakeFrugal();

}  // namespace millrace
