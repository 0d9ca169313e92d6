// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"

// The graph in order of upward rank, as list scheduling goes through it: groups are named by their rank, 0 for the
// highest. Every reader of a group comes after it.
namespace millrace {

class RankOrder {
 public:
  struct Reader {
    std::int32_t rank = 0;
    double bytes = 0;
  };

  RankOrder() = default;

  // `rank_positions` has the rank of every group and is a topological order. O(edges log edges of a group).
  RankOrder(const CostedGraph& costed, std::span<const std::int32_t> rank_positions);

  std::span<const std::int32_t> groups() const { return groups_; }  // by rank

  // Who reads from the group of this rank, the first by rank first.
  std::span<const Reader> Readers(std::size_t rank) const {
    const auto begin = static_cast<std::size_t>(offsets_[rank]);
    return std::span(readers_).subspan(begin, static_cast<std::size_t>(offsets_[rank + 1]) - begin);
  }

 private:
  std::vector<std::int32_t> groups_;
  std::vector<std::int32_t> offsets_;  // by rank, one more
  std::vector<Reader> readers_;
};

}  // namespace millrace
