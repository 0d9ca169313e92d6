// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/epilogue.h"

#include <algorithm>

#include "millrace/runtime/channel_affine.h"
#include "millrace/runtime/gelu_pattern.h"
#include "millrace/runtime/value_readers.h"

namespace millrace {
namespace {

// Adds what `node` does to `value` to the epilogue; false where it does not fit any more.
bool Extend(const Model& model, int node, int value, std::size_t channel_axis, Epilogue& epilogue) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  const Shape& shape = model.values[static_cast<std::size_t>(value)].shape;
  if (of.outputs.size() > 1 && std::any_of(of.outputs.begin() + 1, of.outputs.end(), [](int o) { return o >= 0; }))
    return false;
  if (model.values[static_cast<std::size_t>(of.outputs.front())].shape != shape) return false;
  if (!epilogue.activation.empty()) return false;
  if (of.op_type == "Identity" || (of.op_type == "Dropout" && model.opset < 12)) return true;
  if (epilogue.residual < 0) {
    if (const auto affine = ChannelAffineOf(model, node, value, channel_axis)) {
      if (epilogue.scale.empty()) {
        epilogue.scale.assign(affine->scale.size(), 1.0f);
        epilogue.shift.assign(affine->scale.size(), 0.0f);
      }
      for (std::size_t i = 0; i < affine->scale.size(); ++i) {
        epilogue.scale[i] *= affine->scale[i];
        epilogue.shift[i] = epilogue.shift[i] * affine->scale[i] + affine->shift[i];
      }
      return true;
    }
    if ((of.op_type == "Add" || of.op_type == "Sum") && of.inputs.size() == 2 && of.inputs[0] != of.inputs[1]) {
      const int other = of.inputs[0] == value ? of.inputs[1] : of.inputs[0];
      if (ConstantOf(model, other) != nullptr || model.values[static_cast<std::size_t>(other)].shape != shape)
        return false;
      epilogue.residual = other;
      return true;
    }
  }
  const std::optional<Activation> activation = ActivationOf(model, node);
  if (!activation || of.inputs.front() != value) return false;
  epilogue.activation = *activation;
  return true;
}

}  // namespace

Epilogue EpilogueOf(const Model& model, std::span<const int> nodes, int anchor, std::size_t channel_axis) {
  const Node& heavy = model.nodes[static_cast<std::size_t>(anchor)];
  Epilogue epilogue;
  epilogue.nodes = {anchor};
  epilogue.output = heavy.outputs.front();
  for (std::size_t i = 1; i < heavy.inputs.size(); ++i) {
    if (heavy.inputs[i] >= 0 && ConstantOf(model, heavy.inputs[i]) == nullptr) return epilogue;
  }
  while (true) {
    const std::vector<int> readers = ReadersOf(model, epilogue.output);
    if (epilogue.activation.empty() && readers.size() == 2) {
      // Both readers are the pattern's own: it reads its argument twice.
      const std::optional<GeluPattern> gelu = GeluOf(model, nodes, epilogue.output);
      if (!gelu || !std::all_of(readers.begin(), readers.end(), [&gelu](int reader) {
            return std::find(gelu->nodes.begin(), gelu->nodes.end(), reader) != gelu->nodes.end();
          })) {
        break;
      }
      epilogue.nodes.insert(epilogue.nodes.end(), gelu->nodes.begin(), gelu->nodes.end());
      epilogue.activation = GeluActivation();
      epilogue.output = gelu->output;
      continue;
    }
    if (readers.size() != 1 || std::find(nodes.begin(), nodes.end(), readers.front()) == nodes.end()) break;
    if (!Extend(model, readers.front(), epilogue.output, channel_axis, epilogue)) break;
    epilogue.nodes.push_back(readers.front());
    epilogue.output = model.nodes[static_cast<std::size_t>(readers.front())].outputs.front();
  }
  return epilogue;
}

}  // namespace millrace
