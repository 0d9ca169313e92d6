// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"

// Orders that spare memory first and time second.
namespace millrace {

enum class MemorySavingRule {
  kLeastIncrease,  // the ready group that leaves the least behind: bytes it makes less those it is the last to read
  kDepthFirst,     // the group that became ready last, so that a branch is finished before the next is begun
};

// All groups in an order that frees tensors early, judged as on one memory. Equal groups: the one that became ready
// last, then topological order. O((groups + edges + reads) log groups). Bytes.
//
// Least increase is the greedy rule for the register allocation problem of Sethi ("Complete Register Allocation
// Problems", SIAM J. Computing 1975), which is NP-hard for graphs that are no trees.
std::vector<int> MemorySavingOrder(const CostedGraph& costed, MemorySavingRule rule);

}  // namespace millrace
