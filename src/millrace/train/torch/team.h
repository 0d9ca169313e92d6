// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "millrace/ranks/ranks.h"

// Processes that train one network together. Every update has parts, such as a problem and the plans drawn for it; a
// part is the work of one rank. All ranks keep the same weights: gradients are added up in the order of parts by the
// leader, rank 0, who sends everybody the sum. So what is learnt depends on the parts and not on how many ranks share
// them. A team of one needs no ranks.
namespace millrace {

class Team {
 public:
  // `ranks` is used by the thread that trains, alone, and must outlive the team; null: one rank.
  explicit Team(mpi::Ranks* ranks = nullptr) : ranks_(ranks) {}

  int size() const { return ranks_ == nullptr ? 1 : ranks_->size(); }
  bool Leads() const { return ranks_ == nullptr || ranks_->rank() == 0; }
  bool Owns(std::size_t part) const;

  // The calls below are made by all ranks in the same order. They wait for each other without end, since an update may
  // take however long: whatever starts ranks ends them all where one is dead. They throw Interrupted, and WorkFailed
  // where a rank cannot be reached.

  // What the leader has, on every rank.
  void Follow(std::span<std::byte> bytes) const;

  // Of each part, what its owner has, on every rank.
  void Share(std::vector<std::string>& parts) const;

  template <typename Value>
  void Share(std::vector<Value>& parts) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (size() == 1) return;
    std::vector<std::string> texts(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (Owns(i)) texts[i].assign(reinterpret_cast<const char*>(&parts[i]), sizeof(Value));
    }
    Share(texts);
    for (std::size_t i = 0; i < parts.size(); ++i) std::memcpy(&parts[i], texts[i].data(), sizeof(Value));
  }

  // `own` has one row for each part that this rank owns, in their order, all of the width of `sum`. On every rank the
  // same sum over all parts, added in their order.
  void Sum(std::size_t parts, const std::vector<std::vector<float>>& own, std::span<float> sum) const;

 private:
  void Send(int to, std::span<const std::byte> bytes) const;
  void Receive(int from, std::span<std::byte> bytes) const;
  void Wait(mpi::MessageId message) const;

  mpi::Ranks* ranks_;
};

}  // namespace millrace
