// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"

// Which tensors a group reads and makes: the rows that what is kept in memory is counted by.
namespace millrace {

// Tensors are indices of CostedGraph::tensors, ascending within a row. Owns its rows.
class GroupTensors {
 public:
  GroupTensors() = default;
  explicit GroupTensors(const CostedGraph& costed);

  std::span<const std::int32_t> ReadBy(int group) const { return reads_.Of(group); }
  std::span<const std::int32_t> MadeBy(int group) const { return made_.Of(group); }

 private:
  struct Rows {
    std::vector<std::int32_t> offsets, values;
    std::span<const std::int32_t> Of(int row) const;
  };

  Rows reads_, made_;
};

}  // namespace millrace
