// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/group_tensors.h"

#include <numeric>
#include <utility>

namespace millrace {

GroupTensors::GroupTensors(const CostedGraph& costed) {
  std::vector<std::pair<std::int32_t, std::int32_t>> reads, made;  // (group, tensor), ascending by tensor
  for (std::size_t t = 0; t < costed.tensors.size(); ++t) {
    const auto tensor = static_cast<std::int32_t>(t);
    if (costed.tensors[t].producer >= 0) made.push_back({costed.tensors[t].producer, tensor});
    for (const std::int32_t reader : costed.Readers(costed.tensors[t])) reads.push_back({reader, tensor});
  }
  const auto fill = [&costed](const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs, Rows& rows) {
    rows.offsets.assign(static_cast<std::size_t>(costed.num_groups) + 1, 0);
    for (const auto& pair : pairs) ++rows.offsets[static_cast<std::size_t>(pair.first) + 1];
    std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
    rows.values.resize(pairs.size());
    std::vector<std::int32_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
    for (const auto& pair : pairs)
      rows.values[static_cast<std::size_t>(next[static_cast<std::size_t>(pair.first)]++)] = pair.second;
  };
  fill(reads, reads_);
  fill(made, made_);
}

std::span<const std::int32_t> GroupTensors::Rows::Of(int row) const {
  const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
  return std::span(values).subspan(begin, static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]) - begin);
}

}  // namespace millrace
