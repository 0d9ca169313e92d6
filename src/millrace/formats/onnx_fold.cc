// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_fold.h"

#include <cstring>
#include <unordered_set>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_move.h"
#include "millrace/formats/onnx_small.h"
#include "millrace/formats/onnx_tensor.h"

namespace millrace {
namespace {

ConstantPointer ConstantNode(const Node& node) {
  if (node.attributes.size() != 1) return nullptr;
  const auto& [name, value] = *node.attributes.begin();
  if (const auto* tensor = std::get_if<ConstantPointer>(&value)) return name == "value" ? *tensor : nullptr;
  if (name == "value_int") return ConstantData::Int64s({}, {Model::IntOf(node, name, 0)});
  if (name == "value_float") return ConstantData::Floats({}, {Model::FloatOf(node, name, 0)});
  if (name == "value_ints") {
    const std::vector<std::int64_t> elements = Model::IntsOf(node, name, {});
    return ConstantData::Int64s({static_cast<std::int64_t>(elements.size())}, elements);
  }
  if (name == "value_floats") {
    const std::vector<float> elements = Model::FloatsOf(node, name, {});
    return ConstantData::Floats({static_cast<std::int64_t>(elements.size())}, elements);
  }
  return nullptr;
}

ConstantPointer ConstantOfShape(const Node& node, const ConstantPointer& shape_constant) {
  if (shape_constant == nullptr || shape_constant->type() != DataType::kInt64 || shape_constant->shape().size() != 1 ||
      ElementsOf(shape_constant->shape()) > 64) {
    throw InvalidInput(NodeLabel(node) + ": its input is no list of dimensions");
  }
  const Shape shape = shape_constant->AsInt64s();
  CheckedElements(shape, NodeLabel(node) + "'s output");
  const auto value = node.attributes.find("value");
  if (value == node.attributes.end()) {
    return ConstantData::Filled(DataType::kFloat32, shape, std::vector<std::byte>(sizeof(float)));
  }
  const auto* tensor = std::get_if<ConstantPointer>(&value->second);
  if (tensor == nullptr || ElementsOf((*tensor)->shape()) != 1 || (*tensor)->filled()) {
    throw InvalidInput(NodeLabel(node) + ": its value is not one element");
  }
  return ConstantData::Filled((*tensor)->type(), shape, (*tensor)->stored());
}

class Folder {
 public:
  explicit Folder(OnnxDraft& draft) : draft_(draft), outputs_(draft.model.outputs.begin(), draft.model.outputs.end()) {}

  int Fold() {
    int folded = 0;
    // Copies of weights are bounded, so that many nodes on one large constant do not fill the memory.
    constexpr std::size_t kAlwaysAllowed = std::size_t{64} << 20;
    std::size_t budget = kAlwaysAllowed;
    for (const Value& value : draft_.model.values) {
      if (value.constant != nullptr) budget += 2 * value.constant->stored().size();
    }
    for (const Node& node : draft_.model.nodes) {
      if (!node.domain.empty() || node.outputs.size() != 1 || node.outputs[0] < 0) continue;
      Value& output = ValueOf(node.outputs[0]);
      if (output.constant != nullptr || outputs_.count(node.outputs[0]) > 0) continue;
      const ConstantPointer constant = Evaluate(node);
      if (constant == nullptr) continue;
      const bool copied = node.op_type != "Identity" && node.op_type != "Constant";
      if (copied && constant->stored().size() > budget) continue;
      if (copied) budget -= constant->stored().size();
      output.constant = constant;
      output.type = constant->type();
      output.shape = constant->shape();
      output.producer = -1;
      draft_.known[static_cast<std::size_t>(node.outputs[0])] = 1;
      ++folded;
    }
    return folded;
  }

 private:
  Value& ValueOf(int id) { return draft_.model.values[static_cast<std::size_t>(id)]; }

  ConstantPointer Evaluate(const Node& node) {
    if (node.op_type == "Constant") return ConstantNode(node);
    if (node.op_type == "Shape" || node.op_type == "Size") return Measured(node);
    if (node.op_type == "OptionalHasElement") return HasElement(node);
    std::vector<ConstantPointer> inputs;
    for (const int id : node.inputs) {
      if (id >= 0 && ValueOf(id).constant == nullptr) return nullptr;
      inputs.push_back(id < 0 ? nullptr : ValueOf(id).constant);
    }
    if (inputs.empty() || inputs[0] == nullptr) return nullptr;
    if (node.op_type == "ConstantOfShape") return ConstantOfShape(node, inputs[0]);
    if (node.op_type == "Identity") return inputs[0];
    return OnlyMoves(node) ? EvaluateMove(node, inputs) : EvaluateSmall(node, draft_.model.opset, inputs);
  }

  // Only tensors are read, so an optional that is given is one that holds something.
  static ConstantPointer HasElement(const Node& node) {
    const bool given = !node.inputs.empty() && node.inputs[0] >= 0;
    return ConstantData::Dense(DataType::kBool, {}, {std::byte{given}});
  }

  ConstantPointer Measured(const Node& node) {
    if (node.inputs.size() != 1 || node.inputs[0] < 0 || draft_.known[static_cast<std::size_t>(node.inputs[0])] == 0) {
      return nullptr;
    }
    const Shape& shape = ValueOf(node.inputs[0]).shape;
    if (node.op_type == "Size") return ConstantData::Int64s({}, {ElementsOf(shape)});
    const std::int64_t rank = static_cast<std::int64_t>(shape.size());
    const auto clamped = [rank](std::int64_t at) {
      return at < 0 ? std::max<std::int64_t>(at + rank, 0) : std::min(at, rank);
    };
    const std::int64_t start = clamped(Model::IntOf(node, "start", 0));
    const std::int64_t end = std::max(start, clamped(Model::IntOf(node, "end", rank)));
    const Shape part(shape.begin() + start, shape.begin() + end);
    return ConstantData::Int64s({static_cast<std::int64_t>(part.size())}, part);
  }

  OnnxDraft& draft_;
  std::unordered_set<int> outputs_;
};

}  // namespace

int FoldConstants(OnnxDraft& draft) { return Folder(draft).Fold(); }

}  // namespace millrace
