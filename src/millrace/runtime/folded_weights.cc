// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/folded_weights.h"

#include <cstddef>

#include "millrace/runtime/value_readers.h"

namespace millrace {

FoldedWeights FoldedWeightsOf(const Model& model, const Node& node, const Epilogue& epilogue) {
  FoldedWeights folded;
  const ConstantData* weights = ConstantOf(model, node.inputs[1]);
  if (weights != nullptr) folded.weights = weights->AsFloats();
  const auto channels = static_cast<std::size_t>(model.values[static_cast<std::size_t>(node.inputs[1])].shape[0]);
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] >= 0;
  const ConstantData* bias = has_bias ? ConstantOf(model, node.inputs[2]) : nullptr;
  if (has_bias && bias == nullptr) return folded;
  folded.bias = bias != nullptr ? bias->AsFloats() : std::vector<float>(channels, 0.0f);
  if (epilogue.scale.empty()) return folded;
  const std::size_t per_channel = folded.weights.size() / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const float scale = epilogue.scale[channel];
    for (std::size_t i = 0; i < per_channel; ++i) folded.weights[channel * per_channel + i] *= scale;
    folded.bias[channel] = folded.bias[channel] * scale + epilogue.shift[channel];
  }
  return folded;
}

}  // namespace millrace
