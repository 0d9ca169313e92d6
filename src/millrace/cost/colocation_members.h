// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"

// Who must move together.
namespace millrace {

// By colocation: its groups, ascending.
inline std::vector<std::vector<int>> ColocationMembers(const CostedGraph& costed) {
  std::vector<std::vector<int>> members(static_cast<std::size_t>(costed.num_colocations));
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[static_cast<std::size_t>(group)];
    if (colocation >= 0) members[static_cast<std::size_t>(colocation)].push_back(group);
  }
  return members;
}

}  // namespace millrace
