// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/quantization.h"

#include <algorithm>
#include <cmath>

#include "millrace/runtime/value_readers.h"

namespace millrace {

std::optional<StoredRange> StoredRangeOf(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return StoredRange{-128, 127};
    case DataType::kUint8:
      return StoredRange{0, 255};
    case DataType::kInt16:
      return StoredRange{-32768, 32767};
    case DataType::kUint16:
      return StoredRange{0, 65535};
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<std::int32_t>> ZeroPointsAt(const Model& model, const Node& node, std::size_t at) {
  if (at >= node.inputs.size() || node.inputs[at] < 0) return std::vector<std::int32_t>{0};
  const ConstantData* constant = ConstantOf(model, node.inputs[at]);
  if (constant == nullptr || constant->shape().size() > 1 || ElementsOf(constant->shape()) == 0) return std::nullopt;
  if (!StoredRangeOf(constant->type()) && constant->type() != DataType::kInt32) return std::nullopt;
  std::vector<std::int32_t> points;
  for (const std::int64_t point : constant->AsInt64s()) points.push_back(static_cast<std::int32_t>(point));
  return points;
}

std::optional<Quantization> QuantizationAt(const Model& model, const Node& node, std::size_t scale) {
  const ConstantData* scales = scale < node.inputs.size() ? ConstantOf(model, node.inputs[scale]) : nullptr;
  auto points = ZeroPointsAt(model, node, scale + 1);
  if (scales == nullptr || scales->type() != DataType::kFloat32 || scales->shape().size() > 1 || !points)
    return std::nullopt;
  Quantization found{scales->AsFloats(), *std::move(points)};
  const bool left_out = scale + 1 >= node.inputs.size() || node.inputs[scale + 1] < 0;
  if (left_out) found.zero_point.assign(found.scale.size(), 0);
  if (found.scale.empty() || found.scale.size() != found.zero_point.size()) return std::nullopt;
  const bool sound =
      std::all_of(found.scale.begin(), found.scale.end(), [](float one) { return std::isfinite(one) && one > 0; });
  return sound ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace millrace
