// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"

// How any two groups of a graph are related. Each head of the Topoformer sees the pairs of one of seven relations.
namespace millrace {

enum class Relation : std::uint8_t {
  kReducedPredecessor = 0,  // an edge from the other group, and no longer path: the transitive reduction
  kReducedSuccessor = 1,
  kDirectPredecessor = 2,  // an edge from the other group, and a longer path
  kDirectSuccessor = 3,
  kAncestor = 4,  // a path from the other group, but no edge
  kDescendant = 5,
  kIncomparable = 6,  // no path either way; also every group to itself
};

// What j is to i, at i * groups + j. Memory and time grow with the square of the number of groups.
std::vector<Relation> GroupRelations(const CostedGraph& costed);

}  // namespace millrace
