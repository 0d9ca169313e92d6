// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/value_readers.h"

#include <algorithm>

namespace millrace {

std::vector<int> ReadersOf(const Model& model, int value) {
  std::vector<int> readers;
  bool leaves = std::find(model.outputs.begin(), model.outputs.end(), value) != model.outputs.end();
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    const Node& of = model.nodes[node];
    if (std::find(of.inputs.begin(), of.inputs.end(), value) != of.inputs.end())
      readers.push_back(static_cast<int>(node));
    leaves = leaves || std::find(of.captured.begin(), of.captured.end(), value) != of.captured.end();
  }
  if (leaves) readers.push_back(-1);
  return readers;
}

const ConstantData* ConstantOf(const Model& model, int value) {
  return value < 0 ? nullptr : model.values[static_cast<std::size_t>(value)].constant.get();
}

std::vector<float> PerChannel(const ConstantData& constant, const Shape& shape, std::size_t axis) {
  if (constant.type() != DataType::kFloat32 || constant.shape().size() > shape.size()) return {};
  const std::size_t missing = shape.size() - constant.shape().size();
  for (std::size_t i = 0; i < constant.shape().size(); ++i) {
    if (constant.shape()[i] != 1 && (i + missing != axis || constant.shape()[i] != shape[axis])) return {};
  }
  std::vector<float> values = constant.AsFloats();
  if (values.size() == 1) values.resize(static_cast<std::size_t>(shape[axis]), values.front());
  return values;
}

}  // namespace millrace
