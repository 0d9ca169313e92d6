// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/twins.h"

#include <algorithm>
#include <cstddef>

#include "millrace/graph/index.h"

namespace millrace {

Twins::Twins(const CostedGraph& costed)
    : costed_(costed), offsets_(Index(costed.num_colocations) + 1, 0), twin_(Index(costed.num_groups), -1) {
  for (const std::int32_t colocation : costed.colocation) {
    if (colocation >= 0) ++offsets_[Index(colocation) + 1];
  }
  for (std::size_t at = 1; at < offsets_.size(); ++at) offsets_[at] += offsets_[at - 1];
  members_.resize(Index(offsets_.back()));
  matched_.reserve(members_.size());
  std::vector<std::int32_t> filled(offsets_.begin(), offsets_.end() - 1);
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[Index(group)];
    if (colocation >= 0) members_[Index(filled[Index(colocation)]++)] = group;
  }
}

std::span<const int> Twins::Colocated(int group) const {
  const std::int32_t colocation = costed_.colocation[Index(group)];
  if (colocation < 0) return {};
  const std::size_t first = Index(offsets_[Index(colocation)]);
  return std::span(members_).subspan(first, Index(offsets_[Index(colocation) + 1]) - first);
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
