// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/model_graph.h"

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_flops.h"

namespace millrace {
namespace {

double BytesOfValue(const Value& value) {
  double bytes = static_cast<double>(BytesOf(value.type));
  for (const std::int64_t dimension : value.shape) bytes *= static_cast<double>(dimension);
  return bytes;
}

// What the node reads, captured values included, none twice.
std::vector<int> ReadBy(const Node& node) {
  std::vector<int> ids;
  for (const auto* part : {&node.inputs, &node.captured}) {
    for (const int id : *part) {
      if (id >= 0) ids.push_back(id);
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Op OpOf(const Model& model, const Node& node, std::size_t index) {
  Op op;
  op.type = node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type;
  op.name = node.name.empty() ? op.type + "_" + std::to_string(index) : node.name;
  op.flops = FlopsOf(model, node);
  for (const int id : ReadBy(node)) {
    const Value& value = model.values[static_cast<std::size_t>(id)];
    if (value.constant != nullptr) op.weight_bytes += BytesOfValue(value);
  }
  op.bytes_accessed = BytesAccessedBy(model, node);
  op.layer = node.layer;
  return op;
}

void CheckIds(const Model& model) {
  const int values = static_cast<int>(model.values.size());
  const auto check = [values](const std::vector<int>& ids, int least, const std::string& what) {
    for (const int id : ids) {
      if (id < least || id >= values)
        throw InvalidInput(what + " names the value " + std::to_string(id) + ", which is none");
    }
  };
  check(model.inputs, 0, "the model's inputs");
  check(model.outputs, 0, "the model's outputs");
  for (const Node& node : model.nodes) {
    const std::string what = "node '" + node.name + "' (" + node.op_type + ")";
    check(node.inputs, -1, what);
    check(node.captured, 0, what);
    check(node.outputs, -1, what);
  }
}

}  // namespace

ComputationGraph GraphOfModel(const Model& model) {
  CheckIds(model);
  GraphData data;
  data.name = model.name;
  std::vector<std::vector<OpId>> readers(model.values.size());
  std::vector<char> is_output(model.values.size(), 0);
  for (const int id : model.outputs) is_output[static_cast<std::size_t>(id)] = 1;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    data.ops.push_back(OpOf(model, model.nodes[i], i));
    for (const int id : ReadBy(model.nodes[i])) readers[static_cast<std::size_t>(id)].push_back(static_cast<OpId>(i));
  }
  const auto add = [&](int id, OpId producer) {
    const Value& value = model.values[static_cast<std::size_t>(id)];
    Tensor tensor;
    tensor.name = value.name;
    tensor.producer = producer;
    tensor.consumers = readers[static_cast<std::size_t>(id)];
    tensor.bytes = BytesOfValue(value);
    tensor.output = is_output[static_cast<std::size_t>(id)] != 0;
    data.tensors.push_back(std::move(tensor));
  };
  for (const int id : model.inputs) {
    const std::size_t value = static_cast<std::size_t>(id);
    if (model.values[value].constant == nullptr && (!readers[value].empty() || is_output[value] != 0)) add(id, -1);
  }
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (const int id : model.nodes[i].outputs) {
      if (id >= 0) add(id, static_cast<OpId>(i));
    }
  }
  return ComputationGraph(std::move(data));
}

}  // namespace millrace
