// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/channel_affine.h"

#include <algorithm>
#include <cmath>

#include "millrace/runtime/value_readers.h"

namespace millrace {
namespace {

std::optional<ChannelAffine> OfBatchNormalization(const Model& model, const Node& node, int value,
                                                  std::size_t channel_axis) {
  if (channel_axis != 1 || node.inputs.size() != 5 || node.inputs[0] != value) return std::nullopt;
  if (Model::IntOf(node, "training_mode", 0) != 0 || Model::IntOf(node, "spatial", 1) == 0) return std::nullopt;
  std::vector<float> parameters[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const ConstantData* constant = ConstantOf(model, node.inputs[i + 1]);
    if (constant == nullptr || constant->type() != DataType::kFloat32) return std::nullopt;
    parameters[i] = constant->AsFloats();
  }
  const float epsilon = Model::FloatOf(node, "epsilon", 1e-5f);
  ChannelAffine affine;
  for (std::size_t i = 0; i < parameters[0].size(); ++i) {
    affine.scale.push_back(parameters[0][i] / std::sqrt(parameters[3][i] + epsilon));
    affine.shift.push_back(parameters[1][i] - parameters[2][i] * affine.scale.back());
  }
  return affine;
}

}  // namespace

std::optional<ChannelAffine> ChannelAffineOf(const Model& model, int node, int value, std::size_t channel_axis) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  if (of.op_type == "BatchNormalization") return OfBatchNormalization(model, of, value, channel_axis);
  const bool add = of.op_type == "Add" || of.op_type == "Sum";
  const bool subtract = of.op_type == "Sub";
  const bool multiply = of.op_type == "Mul";
  const bool divide = of.op_type == "Div";
  if ((!add && !subtract && !multiply && !divide) || of.inputs.size() != 2) return std::nullopt;
  const bool first = of.inputs[0] == value;
  const ConstantData* constant = ConstantOf(model, first ? of.inputs[1] : of.inputs[0]);
  if (constant == nullptr || (divide && !first)) return std::nullopt;
  const Shape& shape = model.values[static_cast<std::size_t>(value)].shape;
  std::vector<float> operand = PerChannel(*constant, shape, channel_axis);
  if (operand.empty()) return std::nullopt;
  ChannelAffine affine;
  affine.scale.assign(operand.size(), 1.0f);
  affine.shift.assign(operand.size(), 0.0f);
  if (multiply) affine.scale = operand;
  if (divide) std::transform(operand.begin(), operand.end(), affine.scale.begin(), [](float v) { return 1 / v; });
  if (add || subtract) affine.shift = operand;
  if (subtract && first) std::transform(operand.begin(), operand.end(), affine.shift.begin(), std::negate<>());
  if (subtract && !first) affine.scale.assign(operand.size(), -1.0f);
  return affine;
}

}  // namespace millrace
