// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/fusion_choices.h"

#include <algorithm>

namespace millrace {

FusionState::FusionState(const FusionProblem& problem) : groups_(problem), declined_(problem.candidates().size()) {
  answers_.reserve(declined_.size());
  Skip();
}

void FusionState::Clear() {
  groups_.Clear();
  answers_.clear();
  next_ = 0;
  std::fill(declined_.begin(), declined_.end(), 0);
  Skip();
}

void FusionState::Accept() {
  groups_.Merge();
  answers_.push_back(1);
  ++next_;
  Skip();
}

void FusionState::Decline() {
  declined_[next_] = 1;
  answers_.push_back(0);
  ++next_;
  Skip();
}

// On to the next candidate that may be offered.
void FusionState::Skip() {
  const std::span<const Merge> candidates = problem().candidates();
  for (; next_ < candidates.size(); ++next_) {
    const OpId first = GroupOf(candidates[next_].producer);
    const OpId second = GroupOf(candidates[next_].consumer);
    if (first != second && groups_.Propose(first, second) && !JoinsDeclined() && groups_.Legal()) return;
  }
}

bool FusionState::JoinsDeclined() const {
  const std::span<const OpId> united = union_ops();
  const auto in_union = [united](OpId op) { return std::find(united.begin(), united.end(), op) != united.end(); };
  for (const OpId op : united) {
    const std::size_t begin = problem().first_candidate(op);
    const std::size_t end = std::min(next_, begin + problem().num_candidates(op));
    for (std::size_t i = begin; i < end; ++i) {
      if (declined_[i] != 0 && in_union(problem().candidates()[i].producer)) return true;
    }
  }
  return false;
}

std::optional<std::vector<char>> AnswersFor(const FusionProblem& problem, const FusionGroups& groups) {
  std::vector<std::size_t> wanted(static_cast<std::size_t>(problem.graph().num_ops()), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const OpId op : groups[g]) wanted[static_cast<std::size_t>(op)] = g;
  }
  FusionState state(problem);
  while (!state.done()) {
    const Merge merge = state.offer();
    if (wanted[static_cast<std::size_t>(merge.producer)] == wanted[static_cast<std::size_t>(merge.consumer)]) {
      state.Accept();
    } else {
      state.Decline();
    }
  }
  // Only ops wanted together were joined, so it is enough that none were left apart.
  for (const std::vector<OpId>& group : groups) {
    for (const OpId op : group) {
      if (state.GroupOf(op) != state.GroupOf(group.front())) return std::nullopt;
    }
  }
  return state.answers();
}

}  // namespace millrace
