// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/fused_units.h"

#include <algorithm>

#include "millrace/runtime/channel_affine_kernel.h"
#include "millrace/runtime/elementwise_kernel.h"
#include "millrace/runtime/epilogue.h"
#include "millrace/runtime/gelu_pattern.h"
#include "millrace/runtime/matrix_product.h"
#include "millrace/runtime/value_readers.h"

namespace millrace {

int EpilogueAxisOf(const Model& model, int node) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  if (of.op_type == "Conv") return 1;
  if (!TakesEpilogue(model, node)) return -1;
  return static_cast<int>(model.values[static_cast<std::size_t>(of.outputs.front())].shape.size()) - 1;
}

std::optional<GeluPattern> PatternStartingWith(const Model& model, std::span<const int> nodes, int node) {
  for (const int value : model.nodes[static_cast<std::size_t>(node)].inputs) {
    if (value < 0 || ConstantOf(model, value) != nullptr) continue;
    std::optional<GeluPattern> gelu = GeluOf(model, nodes, value);
    if (gelu && gelu->nodes.front() == node) return gelu;
  }
  return std::nullopt;
}

std::vector<std::vector<int>> FusedUnitsOf(const Model& model, std::span<const int> nodes) {
  std::vector<std::vector<int>> chains;
  for (const int node : nodes) {
    const int axis = EpilogueAxisOf(model, node);
    if (axis >= 0) chains.push_back(EpilogueOf(model, nodes, node, static_cast<std::size_t>(axis)).nodes);
  }
  const auto taken = [&chains](int node) {
    return std::any_of(chains.begin(), chains.end(), [node](const std::vector<int>& members) {
      return std::find(members.begin(), members.end(), node) != members.end();
    });
  };
  for (const int node : nodes) {
    if (taken(node)) continue;
    const Node& of = model.nodes[static_cast<std::size_t>(node)];
    if (of.op_type == "Div" || of.op_type == "Mul") {
      const std::optional<GeluPattern> gelu = PatternStartingWith(model, nodes, node);
      if (gelu) {
        chains.push_back(gelu->nodes);
        continue;
      }
    }
    std::vector<int> chain = ChannelAffineChain(model, nodes, node);
    if (chain.size() > 1) chains.push_back(std::move(chain));
  }
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    std::size_t end = at;
    while (end < nodes.size() && !taken(nodes[end])) ++end;
    if (end == at) continue;
    std::vector<int> chain = ElementwiseChain(model, nodes.subspan(at, end - at));
    if (chain.size() > 1) chains.push_back(std::move(chain));
  }
  std::vector<std::vector<int>> units;
  for (const int node : nodes) {
    const auto chain = std::find_if(chains.begin(), chains.end(), [node](const std::vector<int>& members) {
      return std::find(members.begin(), members.end(), node) != members.end();
    });
    if (chain == chains.end()) {
      units.push_back({node});
    } else if (chain->back() == node) {
      // A chain runs where its last node stands: by then all it reads is there, and nobody reads its inside.
      units.push_back(*chain);
    }
  }
  return units;
}

}  // namespace millrace
