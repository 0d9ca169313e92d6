// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"

// Groups that do the same for two micro-batches: twins share a colocation, and their neighbours are twins in turn. A
// pipeline takes the weights of each stage from one device, so all its micro-batches tie their groups together so.
namespace millrace {

// Matches one pair and all that hangs on it at a time. Allocates in the constructor alone.
class Twins {
 public:
  explicit Twins(const CostedGraph& costed);  // which must outlive it

  // Two groups of one colocation, and of their neighbours and theirs as many pairs as there are; each group is in one
  // at most. Forget what was matched before.
  void Match(int one, int other);
  void Forget();

  std::span<const int> matched() const { return matched_; }                       // one group of each pair
  int TwinOf(int group) const { return twin_[static_cast<std::size_t>(group)]; }  // -1: it has none

 private:
  void Pair(int one, int other);
  void PairNeighbours(std::span<const GroupEdge> of_one, std::span<const GroupEdge> of_other);

  const CostedGraph& costed_;
  std::vector<int> matched_;
  std::vector<int> twin_;  // by group
};

}  // namespace millrace
