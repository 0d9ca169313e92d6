// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/rank_order.h"

#include <algorithm>
#include <cstddef>

namespace millrace {

RankOrder::RankOrder(const CostedGraph& costed, std::span<const std::int32_t> rank_positions)
    : groups_(rank_positions.size()) {
  for (int group = 0; group < costed.num_groups; ++group)
    groups_[static_cast<std::size_t>(rank_positions[static_cast<std::size_t>(group)])] = group;
  offsets_.reserve(groups_.size() + 1);
  offsets_.push_back(0);
  readers_.reserve(costed.successors.size());
  for (const std::int32_t group : groups_) {
    const auto first = static_cast<std::ptrdiff_t>(readers_.size());
    for (const GroupEdge& edge : costed.Successors(group))
      readers_.push_back({rank_positions[static_cast<std::size_t>(edge.group)], edge.bytes});
    std::sort(readers_.begin() + first, readers_.end(),
              [](const Reader& a, const Reader& b) { return a.rank < b.rank; });
    offsets_.push_back(static_cast<std::int32_t>(readers_.size()));
  }
}

}  // namespace millrace
