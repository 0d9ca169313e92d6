// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/twins.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "millrace/graph/index.h"

namespace millrace {

Twins::Twins(const CostedGraph& costed) : costed_(costed), twin_(Index(costed.num_groups), -1) {
  matched_.reserve(twin_.size() / 2);
}

void Twins::Pair(int one, int other) {
  twin_[Index(one)] = other;
  twin_[Index(other)] = one;
  matched_.push_back(one);
}

void Twins::PairNeighbours(std::span<const GroupEdge> of_one, std::span<const GroupEdge> of_other) {
  for (const GroupEdge& edge : of_one) {
    const std::int32_t colocation = costed_.colocation[Index(edge.group)];
    if (colocation < 0 || TwinOf(edge.group) >= 0) continue;
    const auto alike = std::find_if(of_other.begin(), of_other.end(), [&](const GroupEdge& candidate) {
      return candidate.group != edge.group && costed_.colocation[Index(candidate.group)] == colocation &&
             TwinOf(candidate.group) < 0;
    });
    if (alike != of_other.end()) Pair(edge.group, alike->group);
  }
}

void Twins::Match(int one, int other) {
  Pair(one, other);
  for (std::size_t i = 0; i < matched_.size(); ++i) {
    const int first = matched_[i];
    const int second = TwinOf(first);
    PairNeighbours(costed_.Predecessors(first), costed_.Predecessors(second));
    PairNeighbours(costed_.Successors(first), costed_.Successors(second));
  }
}

void Twins::Forget() {
  for (const int one : matched_) {
    twin_[Index(TwinOf(one))] = -1;
    twin_[Index(one)] = -1;
  }
  matched_.clear();
}

}  // namespace millrace
