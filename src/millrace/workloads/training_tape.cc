// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/training_tape.h"

#include <fmt/core.h>

#include <utility>

namespace millrace {

TrainingTape::TrainingTape(const Model& model)
    : model_(model),
      tensors_(model.values.size(), -1),
      gradients_(model.values.size(), -1),
      wanted_(model.values.size(), 0),
      sums_(model.values.size(), 0) {
  data_.name = model.name + "-training";
}

double TrainingTape::ElementsOf(int value) const {
  double elements = 1;
  for (const std::int64_t dimension : ShapeOf(value)) elements *= static_cast<double>(dimension);
  return elements;
}

double TrainingTape::SizeOf(int value) const {
  return ElementsOf(value) * static_cast<double>(BytesOf(ValueOf(value).type));
}

OpId TrainingTape::AddOp(Op op, const std::vector<TensorId>& reads) {
  const OpId id = static_cast<OpId>(data_.ops.size());
  data_.ops.push_back(std::move(op));
  for (const TensorId tensor : reads) {
    if (tensor >= 0) data_.tensors[static_cast<std::size_t>(tensor)].consumers.push_back(id);
  }
  return id;
}

TensorId TrainingTape::AddTensor(std::string name, OpId producer, double bytes) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.producer = producer;
  tensor.bytes = bytes;
  data_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(data_.tensors.size()) - 1;
}

std::vector<TensorId> TrainingTape::Record(const TapeOp& op) {
  Op recorded;
  recorded.name = node_->name + op.role;
  recorded.type = op.type;
  recorded.flops = op.flops;
  recorded.bytes_accessed = op.bytes_accessed;
  recorded.layer = node_->layer;
  const std::string name = recorded.name;
  const OpId id = AddOp(std::move(recorded), op.reads);
  std::vector<TensorId> results;
  results.reserve(op.makes.size());
  for (const double bytes : op.makes)
    results.push_back(AddTensor(fmt::format("{}:{}", name, results.size()), id, bytes));
  return results;
}

void TrainingTape::Hand(int value, TensorId gradient) {
  TensorId& sum = gradients_[static_cast<std::size_t>(value)];
  if (sum < 0) {
    sum = gradient;
    return;
  }
  TapeOp add;
  add.type = "Sum";
  add.role = fmt::format("/grad/sum/{}/{}", ValueOf(value).name, sums_[static_cast<std::size_t>(value)]++);
  add.flops = ElementsOf(value);
  add.reads = {sum, gradient};
  add.makes = {SizeOf(value)};
  sum = Record(add).front();
}

}  // namespace millrace
