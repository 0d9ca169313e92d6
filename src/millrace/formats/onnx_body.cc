// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_body_model.h"
#include "millrace/formats/onnx_fold.h"
#include "millrace/formats/onnx_infer.h"
#include "millrace/formats/onnx_move.h"

namespace millrace {
namespace {

using MaybeShape = std::optional<TypedShape>;

const Value* ValueAt(const OnnxDraft& draft, const Node& node, std::size_t i) {
  if (i >= node.inputs.size() || node.inputs[i] < 0) return nullptr;
  return &draft.model.values[static_cast<std::size_t>(node.inputs[i])];
}

// A body with its shapes inferred as far as they can be.
class InferredBody {
 public:
  InferredBody(const OnnxDraft& outer, const Node& node, const std::string& attribute,
               const std::vector<TypedShape>& types) {
    onnx::ModelProto model = BodyAsModel(outer, node, BodyOf(node, attribute), types);
    std::vector<std::string> warnings;
    draft_ = DraftOf(model, nullptr, {}, warnings);
    FoldConstants(draft_);
    InferShapesHere(draft_);
  }

  std::size_t outputs() const { return draft_.model.outputs.size(); }

  MaybeShape Output(std::size_t i) const {
    const auto id = static_cast<std::size_t>(draft_.model.outputs[i]);
    if (draft_.known[id] == 0) return std::nullopt;
    return TypedShape{draft_.model.values[id].type, draft_.model.values[id].shape};
  }

  // Is this output true whatever the body reads, or its input number `input` handed on?
  bool IsTrueOrInput(std::size_t output, std::size_t input) const {
    int id = draft_.model.outputs[output];
    for (;;) {
      const Value& value = draft_.model.values[static_cast<std::size_t>(id)];
      if (value.constant != nullptr) return IsTrue(*value.constant);
      if (value.producer < 0) return input < draft_.model.inputs.size() && id == draft_.model.inputs[input];
      const Node& maker = draft_.model.nodes[static_cast<std::size_t>(value.producer)];
      if (maker.op_type == "Constant") {
        const auto tensor = maker.attributes.find("value");
        const auto* constant =
            tensor == maker.attributes.end() ? nullptr : std::get_if<ConstantPointer>(&tensor->second);
        return constant != nullptr && IsTrue(**constant);
      }
      if (maker.op_type != "Identity" || maker.inputs.size() != 1 || maker.inputs[0] < 0) return false;
      id = maker.inputs[0];
    }
  }

  static bool IsTrue(const ConstantData& constant) {
    return constant.type() == DataType::kBool && constant.bytes() == 1 && constant.AsInt64s()[0] != 0;
  }

 private:
  OnnxDraft draft_;
};

// What a body is given and gives back and forth: the same shape every time, or nothing is known of it.
MaybeShape Carried(const TypedShape& given, const MaybeShape& made) {
  return made && *made == given ? made : std::nullopt;
}

std::vector<MaybeShape> OfIf(const OnnxDraft& draft, const Node& node) {
  if (IsDecided(draft, node)) return {};
  const InferredBody yes(draft, node, "then_branch", {});
  const InferredBody no(draft, node, "else_branch", {});
  std::vector<MaybeShape> shapes(node.outputs.size());
  if (yes.outputs() != shapes.size() || no.outputs() != shapes.size()) {
    throw InvalidInput(fmt::format("{}: it has {} outputs and its branches have {} and {}", NodeLabel(node),
                                   shapes.size(), yes.outputs(), no.outputs()));
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (yes.Output(i) == no.Output(i)) shapes[i] = yes.Output(i);
  }
  return shapes;
}

// Inputs: how often at most, whether at all, what is carried. The body gives whether to go on, what is carried, and one
// slice of every output that is stacked.
std::vector<MaybeShape> OfLoop(const OnnxDraft& draft, const Node& node) {
  std::vector<TypedShape> types = {{DataType::kInt64, {}}, {DataType::kBool, {}}};
  for (std::size_t i = 2; i < node.inputs.size(); ++i) {
    const Value* carried = ValueAt(draft, node, i);
    if (carried == nullptr) return {};
    types.emplace_back(carried->type, carried->shape);
  }
  const InferredBody body(draft, node, "body", types);
  const std::size_t carried = types.size() - 2;
  if (body.outputs() != node.outputs.size() + 1 || node.outputs.size() < carried) {
    throw InvalidInput(
        fmt::format("{}: it has {} outputs and its body {}", NodeLabel(node), node.outputs.size(), body.outputs()));
  }
  std::vector<MaybeShape> shapes(node.outputs.size());
  for (std::size_t i = 0; i < carried; ++i) shapes[i] = Carried(types[i + 2], body.Output(i + 1));
  const Value* most = ValueAt(draft, node, 0);
  const Value* condition = ValueAt(draft, node, 1);
  const bool begins = condition == nullptr || (condition->constant && InferredBody::IsTrue(*condition->constant));
  if (most == nullptr || !most->constant || ElementsOf(most->shape) != 1 || !begins || !body.IsTrueOrInput(0, 1)) {
    return shapes;
  }
  const std::int64_t times = std::max<std::int64_t>(0, most->constant->AsInt64s()[0]);
  for (std::size_t i = carried; i < shapes.size(); ++i) {
    shapes[i] = body.Output(i + 1);
    if (shapes[i]) shapes[i]->second.insert(shapes[i]->second.begin(), times);
  }
  return shapes;
}

// Since opset 9: states and sequences go in; states and stacked slices come out.
std::vector<MaybeShape> OfScan(const OnnxDraft& draft, const Node& node) {
  const auto sequences = static_cast<std::size_t>(Model::IntOf(node, "num_scan_inputs", 0));
  if (draft.model.opset < 9 || sequences < 1 || sequences > node.inputs.size()) return {};
  const std::size_t states = node.inputs.size() - sequences;
  const std::vector<std::int64_t> in_axes =
      Model::IntsOf(node, "scan_input_axes", std::vector<std::int64_t>(sequences, 0));
  std::int64_t length = 0;
  std::vector<TypedShape> types;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Value* input = ValueAt(draft, node, i);
    if (input == nullptr || in_axes.size() != sequences) return {};
    types.emplace_back(input->type, input->shape);
    if (i < states) continue;
    Shape& slice = types.back().second;
    const std::size_t axis = AxisOf(node, in_axes[i - states], slice.size());
    length = slice[axis];
    slice.erase(slice.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  const InferredBody body(draft, node, "body", types);
  if (body.outputs() != node.outputs.size() || node.outputs.size() < states) {
    throw InvalidInput(
        fmt::format("{}: it has {} outputs and its body {}", NodeLabel(node), node.outputs.size(), body.outputs()));
  }
  const std::vector<std::int64_t> out_axes =
      Model::IntsOf(node, "scan_output_axes", std::vector<std::int64_t>(node.outputs.size() - states, 0));
  std::vector<MaybeShape> shapes(node.outputs.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const MaybeShape made = body.Output(i);
    shapes[i] = i < states ? Carried(types[i], made) : made;
    if (i < states || !made || out_axes.size() != shapes.size() - states) continue;
    Shape& stacked = shapes[i]->second;
    const std::size_t axis = AxisOf(node, out_axes[i - states], stacked.size() + 1);
    stacked.insert(stacked.begin() + static_cast<std::ptrdiff_t>(axis), length);
  }
  return shapes;
}

}  // namespace

bool IsDecided(const OnnxDraft& draft, const Node& node) {
  if (node.op_type != "If" || !node.domain.empty() || node.inputs.size() != 1) return false;
  const Value* condition = ValueAt(draft, node, 0);
  return condition != nullptr && condition->constant != nullptr && condition->constant->type() == DataType::kBool &&
         ElementsOf(condition->shape) == 1;
}

std::vector<std::optional<TypedShape>> ShapesOfControlFlow(const OnnxDraft& draft, const Node& node) {
  for (const int id : node.captured) {
    if (draft.known[static_cast<std::size_t>(id)] == 0) return {};
  }
  if (node.op_type == "If") return OfIf(draft, node);
  if (node.op_type == "Loop") return OfLoop(draft, node);
  return OfScan(draft, node);
}

}  // namespace millrace
