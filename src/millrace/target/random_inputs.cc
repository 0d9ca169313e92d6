// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/random_inputs.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace millrace {
namespace {

constexpr std::int64_t kMostInteger = 100;

bool IsInteger(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
    case DataType::kUint64:
      return true;
    default:
      return false;
  }
}

// How many entries the node offers to the indices it reads in its second input; -1: it looks nothing up.
std::int64_t EntriesLookedUp(const Model& model, const Node& node) {
  const std::string& op = node.op_type;
  const Shape& shape = model.values[static_cast<std::size_t>(node.inputs[0])].shape;
  if (op == "GatherND" || op == "ScatterND") {  // an index for each of the first axes: the smallest of all is safe
    return shape.empty() ? -1 : *std::min_element(shape.begin(), shape.end());
  }
  if (op != "Gather" && op != "GatherElements" && op != "Scatter" && op != "ScatterElements") return -1;
  const std::int64_t rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = Model::IntOf(node, "axis", 0);
  if (axis < 0) axis += rank;
  return axis < 0 || axis >= rank ? -1 : shape[static_cast<std::size_t>(axis)];
}

template <typename Element, typename Draw>
void Fill(std::span<std::byte> elements, const Draw& draw) {
  for (std::size_t at = 0; at + sizeof(Element) <= elements.size(); at += sizeof(Element)) {
    const Element element = static_cast<Element>(draw());
    std::memcpy(elements.data() + at, &element, sizeof(Element));
  }
}

}  // namespace

std::int64_t SafeIntegerBound(const Model& model, int value) {
  std::int64_t bound = kMostInteger;
  std::vector<bool> carries(model.values.size(), false);  // integers that come from `value`
  carries[static_cast<std::size_t>(value)] = true;
  for (const Node& node : model.nodes) {
    for (std::size_t position = 0; position < node.inputs.size(); ++position) {
      const int input = node.inputs[position];
      if (input < 0 || !carries[static_cast<std::size_t>(input)]) continue;
      const std::int64_t entries = position == 1 && node.inputs[0] >= 0 ? EntriesLookedUp(model, node) : -1;
      if (entries >= 0) {
        bound = std::min(bound, entries);
        continue;
      }
      for (const int output : node.outputs) {
        if (output >= 0 && IsInteger(model.values[static_cast<std::size_t>(output)].type))
          carries[static_cast<std::size_t>(output)] = true;
      }
    }
  }
  return std::max<std::int64_t>(bound, 1);
}

void FillRandomly(const Model& model, int value, Random& random, std::span<std::byte> elements) {
  const DataType type = model.values[static_cast<std::size_t>(value)].type;
  const auto real = [&] { return random.Uniform(-1, 1); };
  if (type == DataType::kFloat32) return Fill<float>(elements, real);
  if (type == DataType::kFloat64) return Fill<double>(elements, real);
  if (type == DataType::kBool) return Fill<std::uint8_t>(elements, [&] { return random.Below(2); });
  if (!IsInteger(type)) {
    std::fill(elements.begin(), elements.end(), std::byte{0});
    return;
  }
  const std::uint64_t bound = static_cast<std::uint64_t>(SafeIntegerBound(model, value));
  const auto integer = [&] { return random.Below(bound); };
  switch (BytesOf(type)) {
    case 1:
      return Fill<std::uint8_t>(elements, integer);
    case 2:
      return Fill<std::uint16_t>(elements, integer);
    case 4:
      return Fill<std::uint32_t>(elements, integer);
    default:
      return Fill<std::uint64_t>(elements, integer);
  }
}

}  // namespace millrace
