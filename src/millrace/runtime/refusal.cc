// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/refusal.h"

#include <algorithm>

namespace millrace {

std::string RefuseTypes(const Model& model, int node) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  for (const std::vector<int>* values : {&of.inputs, &of.outputs}) {
    for (const int value : *values) {
      if (value < 0) continue;
      const Value& tensor = model.values[static_cast<std::size_t>(value)];
      if (tensor.type != DataType::kFloat32) return of.op_type + " on " + NameOf(tensor.type);
      if (ElementsOf(tensor.shape) == 0) return of.op_type + " on a tensor without elements";
    }
  }
  return "";
}

std::string RefuseConstant(const Model& model, int node) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  return model.values[static_cast<std::size_t>(of.inputs[0])].constant != nullptr ? of.op_type + " of a constant" : "";
}

std::string RefuseOutput(const Model& model, int node, std::size_t output, const std::string& name) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  if (of.outputs.size() > output && of.outputs[output] >= 0) return of.op_type + " with the output " + name;
  return "";
}

}  // namespace millrace
