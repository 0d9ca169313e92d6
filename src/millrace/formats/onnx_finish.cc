// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_draft.h"

// The end of the import: what nobody needs goes, what is left is complete.
namespace millrace {
namespace {

// Ops whose outputs beyond those read may be left out, as ONNX lists them.
bool MayLeaveOutputsOut(const Node& node) {
  constexpr std::array<std::string_view, 7> kSuch = {
      "BatchNormalization", "Dropout", "GRU", "LayerNormalization", "LSTM", "MaxPool", "RNN"};
  if (!node.domain.empty()) return false;
  for (const std::string_view such : kSuch) {
    if (node.op_type == such) return true;
  }
  return false;
}

void TrimOpenEnd(std::vector<int>& ids) {
  while (!ids.empty() && ids.back() < 0) ids.pop_back();
}

// Renumbers the values that are still named: model inputs, then by node what it reads first and what it makes.
void DropUnnamedValues(OnnxDraft& draft) {
  Model& model = draft.model;
  std::vector<int> renumbered(model.values.size(), -1);
  OnnxDraft kept;
  const auto keep = [&](int& id) {
    if (id < 0) return;
    const std::size_t old = static_cast<std::size_t>(id);
    if (renumbered[old] < 0) {
      renumbered[old] = static_cast<int>(kept.model.values.size());
      kept.model.values.push_back(std::move(model.values[old]));
      kept.known.push_back(draft.known[old]);
      kept.stated.push_back(std::move(draft.stated[old]));
    }
    id = renumbered[old];
  };
  for (int& id : model.inputs) keep(id);
  for (Node& node : model.nodes) {
    for (int& id : node.inputs) keep(id);
    for (int& id : node.captured) keep(id);
    for (int& id : node.outputs) keep(id);
  }
  for (int& id : model.outputs) keep(id);
  model.values = std::move(kept.model.values);
  draft.known = std::move(kept.known);
  draft.stated = std::move(kept.stated);
}

}  // namespace

void DropDead(OnnxDraft& draft) {
  Model& model = draft.model;
  std::vector<char> needed(model.values.size(), 0);
  for (const int id : model.outputs) needed[static_cast<std::size_t>(id)] = 1;
  std::vector<char> alive(model.nodes.size(), 0);
  for (std::size_t i = model.nodes.size(); i-- > 0;) {
    Node& node = model.nodes[i];
    for (const int id : node.outputs) {
      // A node that was folded no longer produces its output, which is a constant now.
      if (id >= 0 && needed[static_cast<std::size_t>(id)] != 0 &&
          model.values[static_cast<std::size_t>(id)].producer == static_cast<int>(i)) {
        alive[i] = 1;
      }
    }
    if (alive[i] == 0) continue;
    for (const auto* ids : {&node.inputs, &node.captured}) {
      for (const int id : *ids) {
        if (id >= 0) needed[static_cast<std::size_t>(id)] = 1;
      }
    }
    if (MayLeaveOutputsOut(node)) {
      for (int& id : node.outputs) {
        if (id >= 0 && needed[static_cast<std::size_t>(id)] == 0) id = -1;
      }
    }
    TrimOpenEnd(node.inputs);
    TrimOpenEnd(node.outputs);
  }
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    if (alive[i] == 0) continue;
    for (const int id : model.nodes[i].outputs) {
      if (id >= 0) model.values[static_cast<std::size_t>(id)].producer = static_cast<int>(nodes.size());
    }
    nodes.push_back(std::move(model.nodes[i]));
  }
  model.nodes = std::move(nodes);
  DropUnnamedValues(draft);
}

Model Finished(OnnxDraft draft) {
  for (const Node& node : draft.model.nodes) {
    for (const int id : node.outputs) {
      if (id < 0 || draft.known[static_cast<std::size_t>(id)] != 0) continue;
      const std::string name = node.name.empty() ? std::string() : " '" + node.name + "'";
      throw InvalidInput(
          fmt::format("op{} ({}{}): the shape of its output '{}' cannot be inferred and the model does not state it; "
                      "add it to the model's value_info",
                      name, node.domain.empty() ? std::string() : node.domain + "::", node.op_type,
                      draft.model.values[static_cast<std::size_t>(id)].name));
    }
  }
  return std::move(draft.model);
}

}  // namespace millrace
