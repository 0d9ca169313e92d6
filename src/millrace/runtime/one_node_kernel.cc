// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/one_node_kernel.h"

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/group_values.h"
#include "millrace/runtime/weight_cache.h"

namespace millrace {

std::int64_t LineElements(DataType type) {
  return 64 / static_cast<std::int64_t>(std::max<std::size_t>(1, BytesOf(type)));
}

OneNodeKernel::OneNodeKernel(const KernelRequest& request)
    : request_(request),
      model_(*request.model),
      node_(model_.nodes[static_cast<std::size_t>(request.nodes[0])]),
      workers_(request.workers) {
  operands_.resize(node_.inputs.size());
  inputs_ = GroupInputs(model_, request.nodes);
  outputs_ = GroupOutputs(model_, request.nodes);
  for (const int value : inputs_) input_specs_.push_back(SpecOf(model_, value));
  for (const int value : outputs_) output_specs_.push_back(SpecOf(model_, value));
  for (const int value : node_.outputs) {
    const auto found = std::find(outputs_.begin(), outputs_.end(), value);
    output_slots_.push_back(found == outputs_.end() ? -1 : static_cast<int>(found - outputs_.begin()));
  }
}

void OneNodeKernel::ReadInput(int i) {
  Operand& operand = operands_[static_cast<std::size_t>(i)];
  const int id = node_.inputs[static_cast<std::size_t>(i)];
  const auto found = std::find(inputs_.begin(), inputs_.end(), id);
  if (found == inputs_.end()) {
    operand.constant = HoldConstant(request_, id);
  } else {
    operand.slot = static_cast<int>(found - inputs_.begin());
  }
}

bool OneNodeKernel::HasInput(int i) const { return InputOf(model_, node_, i) != nullptr; }

bool OneNodeKernel::HasOutput(int i) const {
  return static_cast<std::size_t>(i) < output_slots_.size() && output_slots_[static_cast<std::size_t>(i)] >= 0;
}

const Value& OneNodeKernel::InputValue(int i) const {
  return model_.values[static_cast<std::size_t>(node_.inputs[static_cast<std::size_t>(i)])];
}

const Value& OneNodeKernel::OutputValue(int i) const {
  return model_.values[static_cast<std::size_t>(node_.outputs[static_cast<std::size_t>(i)])];
}

std::shared_ptr<const std::byte> HoldConstant(const KernelRequest& request, int value) {
  const auto& constant = request.model->values[static_cast<std::size_t>(value)].constant;
  const std::size_t bytes = constant->bytes();
  if (request.weights != nullptr) {
    return request.weights->Get("plain " + std::to_string(value), bytes, [&](std::byte* to) { constant->CopyTo(to); });
  }
  const std::shared_ptr<std::byte> copy = AllocateAligned(bytes);
  constant->CopyTo(copy.get());
  return copy;
}

const Value* InputOf(const Model& model, const Node& node, int i) {
  if (static_cast<std::size_t>(i) >= node.inputs.size()) return nullptr;
  const int id = node.inputs[static_cast<std::size_t>(i)];
  return id < 0 ? nullptr : &model.values[static_cast<std::size_t>(id)];
}

const Value* OutputOf(const Model& model, const Node& node, int i) {
  if (static_cast<std::size_t>(i) >= node.outputs.size()) return nullptr;
  const int id = node.outputs[static_cast<std::size_t>(i)];
  return id < 0 ? nullptr : &model.values[static_cast<std::size_t>(id)];
}

bool ConstantInts(const Model& model, const Node& node, int i, std::vector<std::int64_t>& values) {
  const Value* value = InputOf(model, node, i);
  if (value == nullptr || !value->constant) return false;
  values = value->constant->AsInt64s();
  return true;
}

std::int64_t PositiveAxis(const Node& node, std::int64_t axis, std::size_t rank) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis < -limit || axis >= limit) {
    throw InvalidInput("node '" + node.name + "' (" + node.op_type + "): axis " + std::to_string(axis) +
                       " lies outside a tensor of rank " + std::to_string(rank));
  }
  return axis < 0 ? axis + limit : axis;
}

std::vector<std::int64_t> StridesOf(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

}  // namespace millrace
