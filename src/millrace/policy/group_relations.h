// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"

// How any two groups of a graph stand to each other: the seven relations that the Topoformer's heads are masked by.
namespace millrace {

enum class Relation : std::uint8_t {
  kReducedPredecessor = 0,  // an edge from the other leads here, and no longer path does: the transitive reduction
  kReducedSuccessor = 1,
  kDirectPredecessor = 2,  // an edge, but a longer path too
  kDirectSuccessor = 3,
  kAncestor = 4,  // a path, but no edge
  kDescendant = 5,
  kIncomparable = 6,  // no path either way; every group to itself, so that its relations cover all groups
};

// By group i * groups + j: what j is to i. Memory and time go with the square of the groups.
std::vector<Relation> GroupRelations(const CostedGraph& costed);

}  // namespace millrace
