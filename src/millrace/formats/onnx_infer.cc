// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_body.h"
#include "millrace/formats/onnx_fold.h"
#include "millrace/formats/onnx_message.h"
#include "millrace/formats/onnx_move.h"
#include "millrace/formats/onnx_newer.h"
#include "millrace/formats/onnx_proto.h"
#include "millrace/formats/onnx_shape_rules.h"
#include "millrace/formats/onnx_tensor.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>
#pragma GCC diagnostic pop

namespace millrace {
namespace {

// Shapes computed from shapes resolve one level a round; models nest few.
constexpr int kMostRounds = 1000;

using Infos = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

class Inference {
 public:
  explicit Inference(OnnxDraft& draft) : draft_(draft) {
    for (std::size_t i = 0; i < draft.model.values.size(); ++i) ids_.emplace(draft.model.values[i].name, i);
  }

  void Check() {
    onnx::ModelProto sketch = SketchOf(draft_);
    // The checker wants every output to state a shape; that it does not is only worth a warning.
    *sketch.mutable_graph()->mutable_output() = Infos(draft_.outputs.begin(), draft_.outputs.end());
    for (onnx::ValueInfoProto& output : *sketch.mutable_graph()->mutable_output()) {
      onnx::TypeProto::Tensor* tensor = output.mutable_type()->mutable_tensor_type();
      if (!tensor->has_elem_type()) tensor->set_elem_type(onnx::TensorProto::FLOAT);
      tensor->mutable_shape();
    }
    onnx::checker::check_model(sketch);
  }

  // In rounds: infer, fold what has become constant, and where both stand still believe the file about values whose
  // node has all it needs.
  void Infer() {
    for (int round = 0; round < kMostRounds && Unknown() > 0; ++round) {
      onnx::ModelProto sketch = SketchOf(draft_);
      onnx::shape_inference::InferShapes(sketch, onnx::OpSchemaRegistry::Instance(),
                                         onnx::ShapeInferenceOptions(false, 1, true));
      const int learnt = Learn(sketch.graph().value_info()) + Learn(sketch.graph().output());
      if (learnt + FoldConstants(draft_) > 0 || Supplement() > 0) continue;
      if (Believe() == 0) return;
    }
  }

  // Takes over the types of values not known yet; returns how many.
  int Learn(const Infos& infos) {
    int learnt = 0;
    for (const onnx::ValueInfoProto& info : infos) {
      const auto found = ids_.find(info.name());
      if (found == ids_.end() || draft_.known[found->second] != 0 ||
          info.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) {
        continue;
      }
      if (!info.type().has_tensor_type()) {
        throw InvalidInput(
            fmt::format("value '{}' is no plain tensor but a sequence, map, optional or sparse one, "
                        "which Millrace does not take",
                        info.name()));
      }
      const auto& tensor = info.type().tensor_type();
      const std::optional<DataType> type = DataTypeOf(tensor.elem_type());
      if (!type && tensor.elem_type() != onnx::TensorProto::UNDEFINED) {
        throw InvalidInput(fmt::format("value '{}' has an element type Millrace does not know, {}", info.name(),
                                       NameOfOnnxType(tensor.elem_type())));
      }
      if (!type || !tensor.has_shape()) continue;
      Shape shape;
      bool complete = true;
      for (const auto& dimension : tensor.shape().dim()) {
        complete = complete && dimension.has_dim_value();
        shape.push_back(dimension.dim_value());
      }
      if (!complete) continue;
      CheckedElements(shape, fmt::format("value '{}'", info.name()));
      Know(found->second, *type, std::move(shape));
      ++learnt;
    }
    return learnt;
  }

  std::string Known() const {
    onnx::GraphProto graph;
    for (std::size_t i = 0; i < draft_.model.values.size(); ++i) {
      const Value& value = draft_.model.values[i];
      if (value.producer < 0 || draft_.known[i] == 0) continue;
      onnx::ValueInfoProto* info = graph.add_value_info();
      info->set_name(value.name);
      onnx::TypeProto::Tensor* tensor = info->mutable_type()->mutable_tensor_type();
      tensor->set_elem_type(OnnxTypeOf(value.type));
      tensor->mutable_shape();
      for (const std::int64_t dimension : value.shape) tensor->mutable_shape()->add_dim()->set_dim_value(dimension);
    }
    return graph.SerializeAsString();
  }

 private:
  int Unknown() const {
    int unknown = 0;
    for (const Node& node : draft_.model.nodes) {
      for (const int id : node.outputs) unknown += id >= 0 && draft_.known[static_cast<std::size_t>(id)] == 0;
    }
    return unknown;
  }

  void Know(std::size_t id, DataType type, Shape shape) {
    draft_.model.values[id].type = type;
    draft_.model.values[id].shape = std::move(shape);
    draft_.known[id] = 1;
  }

  // Shapes that libonnx has no rule for, of every node whose inputs are known by the time it is met. Control flow comes
  // last: what decides an If may still become a constant.
  int Supplement() {
    const int supplemented = SupplementOf([this](const Node& node) { return HasOwnRule(node); });
    return supplemented > 0 ? supplemented : SupplementOf(IsControlFlow);
  }

  template <typename Wanted>
  int SupplementOf(const Wanted& wanted) {
    int supplemented = 0;
    for (const Node& node : draft_.model.nodes) {
      if (!node.domain.empty() || !wanted(node) || !LacksOutputs(node) || !HasInputs(node)) continue;
      const std::vector<std::optional<TypedShape>> shapes = ShapesOf(node);
      for (std::size_t i = 0; i < std::min(shapes.size(), node.outputs.size()); ++i) {
        if (!shapes[i] || node.outputs[i] < 0 || draft_.known[static_cast<std::size_t>(node.outputs[i])] != 0) continue;
        CheckedElements(shapes[i]->second, NodeLabel(node) + "'s output");
        Know(static_cast<std::size_t>(node.outputs[i]), shapes[i]->first, shapes[i]->second);
        ++supplemented;
      }
    }
    return supplemented;
  }

  static bool IsControlFlow(const Node& node) {
    return node.op_type == "If" || node.op_type == "Loop" || node.op_type == "Scan";
  }

  bool HasOwnRule(const Node& node) const {
    return (IsUnseen(node, draft_.model.opset) && !IsControlFlow(node)) || node.op_type == "Einsum";
  }

  std::vector<std::optional<TypedShape>> ShapesOf(const Node& node) const {
    if (IsControlFlow(node)) return ShapesOfControlFlow(draft_, node);
    std::vector<const Value*> inputs;
    inputs.reserve(node.inputs.size());
    for (const int id : node.inputs) {
      inputs.push_back(id < 0 ? nullptr : &draft_.model.values[static_cast<std::size_t>(id)]);
    }
    const auto shapes = ShapesByRule(node, inputs);
    if (!shapes) return {};
    return {shapes->begin(), shapes->end()};
  }

  bool HasInputs(const Node& node) const {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [this](int id) { return id < 0 || draft_.known[static_cast<std::size_t>(id)] != 0; });
  }

  bool LacksOutputs(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [this](int id) { return id >= 0 && draft_.known[static_cast<std::size_t>(id)] == 0; });
  }

  int Believe() {
    std::vector<std::size_t> believed;
    for (const Node& node : draft_.model.nodes) {
      const bool ready = HasInputs(node) && !IsDecided(draft_, node);
      for (const int id : node.outputs) {
        const std::size_t value = static_cast<std::size_t>(id);
        if (ready && id >= 0 && draft_.known[value] == 0 && draft_.stated[value]) believed.push_back(value);
      }
    }
    for (const std::size_t value : believed) Know(value, draft_.stated[value]->first, draft_.stated[value]->second);
    return static_cast<int>(believed.size());
  }

  OnnxDraft& draft_;
  std::unordered_map<std::string, std::size_t> ids_;
};

void WarnOfContradictions(const OnnxDraft& draft, std::vector<std::string>& warnings) {
  int others = 0;
  std::string first;
  for (std::size_t i = 0; i < draft.model.values.size(); ++i) {
    const Value& value = draft.model.values[i];
    if (draft.known[i] == 0 || !draft.stated[i] || value.producer < 0) continue;
    const auto& [type, shape] = *draft.stated[i];
    if (type == value.type && shape == value.shape) continue;
    if (first.empty()) {
      first = fmt::format("the model states {} [{}] for '{}', its node makes {} [{}], which is believed", NameOf(type),
                          fmt::join(shape, ", "), value.name, NameOf(value.type), fmt::join(value.shape, ", "));
    } else {
      ++others;
    }
  }
  if (others > 0) first += fmt::format("; likewise for {} more values", others);
  if (!first.empty()) warnings.push_back(first);
}

}  // namespace

void InferShapes(OnnxDraft& draft, const ForkLimits& limits, std::vector<std::string>& warnings) {
  // ONNX's table of schemas is built by the first look-up. Children of a process that has it need not build their own.
  onnx::OpSchemaRegistry::Schema("Add");
  const std::string reply = RunInChild("ONNX shape inference", limits, [&draft] {
    InferShapesHere(draft);
    return Inference(draft).Known();
  });
  onnx::GraphProto graph;
  if (!graph.ParseFromString(reply)) throw InvalidInput("ONNX shape inference gave no usable answer");
  Inference(draft).Learn(graph.value_info());
  for (const onnx::ValueInfoProto& output : draft.outputs) {
    if (!output.type().tensor_type().has_shape()) {
      warnings.push_back(fmt::format("the model's output '{}' does not state its shape", output.name()));
    }
  }
  WarnOfContradictions(draft, warnings);
}

void InferShapesHere(OnnxDraft& draft) {
  Inference inference(draft);
  inference.Check();
  inference.Infer();
}

void BelieveStatedShapes(OnnxDraft& draft) {
  for (std::size_t i = 0; i < draft.model.values.size(); ++i) {
    if (draft.known[i] != 0 || !draft.stated[i]) continue;
    draft.model.values[i].type = draft.stated[i]->first;
    draft.model.values[i].shape = draft.stated[i]->second;
    draft.known[i] = 1;
  }
}

}  // namespace millrace
