// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/parts.h"

#include <algorithm>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

void SortDistinct(std::vector<int>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

template <typename Visit>
void EachRead(const Node& node, const Visit& visit) {
  for (const auto* ids : {&node.inputs, &node.captured}) {
    for (const int id : *ids) {
      if (id >= 0) visit(id);
    }
  }
}

// Copies values as nodes ask for them.
class PartMaker {
 public:
  PartMaker(const Model& model, Model& part) : model_(model), part_(part), number_(model.values.size(), -1) {}

  int NumberOf(int value) {
    if (value < 0) return value;
    int& number = number_[Index(value)];
    if (number < 0) {
      number = static_cast<int>(part_.values.size());
      part_.values.push_back(model_.values[Index(value)]);
      part_.values.back().producer = -1;
    }
    return number;
  }

  void AddNode(const Node& node) {
    Node copy = node;
    for (auto* ids : {&copy.inputs, &copy.captured, &copy.outputs}) {
      for (int& id : *ids) id = NumberOf(id);
    }
    for (const int id : copy.outputs) {
      if (id >= 0) part_.values[Index(id)].producer = static_cast<int>(part_.nodes.size());
    }
    part_.nodes.push_back(std::move(copy));
  }

 private:
  const Model& model_;
  Model& part_;
  std::vector<int> number_;  // by value of the model: its id in the part; -1: not in it
};

}  // namespace

std::vector<PartBorder> BordersOf(const Model& model, const std::vector<std::vector<OpId>>& parts) {
  std::vector<int> part_of(model.nodes.size(), -1);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (const OpId node : parts[part]) part_of[Index(node)] = static_cast<int>(part);
  }
  std::vector<PartBorder> borders(parts.size());
  const auto leaves = [&](int value) {
    const int producer = model.values[Index(value)].producer;
    const int part = producer < 0 ? -1 : part_of[Index(producer)];
    if (part >= 0) borders[Index(part)].outputs.push_back(value);
  };
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    EachRead(model.nodes[node], [&](int value) {
      const Value& read = model.values[Index(value)];
      if (read.constant != nullptr) return;
      const int from = read.producer < 0 ? -1 : part_of[Index(read.producer)];
      if (from >= 0 && from == part_of[node]) return;
      leaves(value);
      if (part_of[node] >= 0) borders[Index(part_of[node])].inputs.push_back(value);
    });
  }
  for (const int value : model.outputs) leaves(value);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    SortDistinct(borders[part].inputs);
    SortDistinct(borders[part].outputs);
    if (!borders[part].outputs.empty() || parts[part].empty()) continue;
    for (const int value : model.nodes[Index(parts[part].back())].outputs) {
      if (value >= 0) borders[part].outputs.push_back(value);
    }
    SortDistinct(borders[part].outputs);
  }
  return borders;
}

Model PartModel(const Model& model, std::span<const OpId> nodes, const PartBorder& border) {
  Model part;
  part.name = model.name;
  part.opset = model.opset;
  part.foreign_opsets = model.foreign_opsets;
  part.functions = model.functions;
  PartMaker maker(model, part);
  for (const int value : border.inputs) part.inputs.push_back(maker.NumberOf(value));
  for (const OpId node : nodes) maker.AddNode(model.nodes[Index(node)]);
  for (const int value : border.outputs) part.outputs.push_back(maker.NumberOf(value));
  return part;
}

}  // namespace millrace
