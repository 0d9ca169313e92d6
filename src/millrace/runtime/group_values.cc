// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/group_values.h"

#include <algorithm>

namespace millrace {
namespace {

template <typename Range, typename Element>
bool Contains(const Range& range, const Element& element) {
  return std::find(range.begin(), range.end(), element) != range.end();
}

}  // namespace

std::vector<int> GroupInputs(const Model& model, std::span<const int> nodes) {
  std::vector<int> made;
  std::vector<int> inputs;
  for (const int node : nodes) {
    for (const int value : model.nodes[static_cast<std::size_t>(node)].inputs) {
      if (value < 0 || model.values[static_cast<std::size_t>(value)].constant != nullptr) continue;
      if (!Contains(made, value) && !Contains(inputs, value)) inputs.push_back(value);
    }
    for (const int value : model.nodes[static_cast<std::size_t>(node)].outputs) made.push_back(value);
  }
  return inputs;
}

std::vector<int> GroupOutputs(const Model& model, std::span<const int> nodes) {
  std::vector<int> made;
  for (const int node : nodes) {
    for (const int value : model.nodes[static_cast<std::size_t>(node)].outputs) {
      if (value >= 0) made.push_back(value);
    }
  }
  std::vector<bool> read_inside(made.size(), false);
  std::vector<bool> leaves(made.size(), false);
  const auto mark = [&](const std::vector<int>& values, bool inside) {
    for (const int value : values) {
      const auto at = std::find(made.begin(), made.end(), value);
      if (at == made.end()) continue;
      const auto index = static_cast<std::size_t>(at - made.begin());
      (inside ? read_inside : leaves)[index] = true;
    }
  };
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    mark(model.nodes[node].inputs, Contains(nodes, static_cast<int>(node)));
    mark(model.nodes[node].captured, false);
  }
  mark(model.outputs, false);
  std::vector<int> outputs;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (leaves[i] || !read_inside[i]) outputs.push_back(made[i]);
  }
  return outputs;
}

TensorSpec SpecOf(const Model& model, int value, Layout layout) {
  const Value& of = model.values[static_cast<std::size_t>(value)];
  return {of.type, of.shape, layout};
}

}  // namespace millrace
