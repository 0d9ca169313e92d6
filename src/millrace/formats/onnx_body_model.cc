// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_body_model.h"

#include <fmt/format.h>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_move.h"
#include "millrace/formats/onnx_tensor.h"
#include "millrace/formats/onnx_validate.h"

namespace millrace {
namespace {

// Shapes and conditions are this small; weights are not.
constexpr std::int64_t kMostElementsCopied = 4096;

void SetType(onnx::ValueInfoProto* info, const TypedShape& type) {
  onnx::TypeProto::Tensor* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(OnnxTypeOf(type.first));
  tensor->mutable_shape()->clear_dim();
  for (const std::int64_t extent : type.second) tensor->mutable_shape()->add_dim()->set_dim_value(extent);
}

void AddImport(onnx::ModelProto& model, const std::string& domain, std::int64_t version) {
  onnx::OperatorSetIdProto* import = model.add_opset_import();
  import->set_domain(domain);
  import->set_version(version);
}

}  // namespace

onnx::GraphProto BodyOf(const Node& node, const std::string& attribute) {
  const auto found = node.attributes.find(attribute);
  const auto* body = found == node.attributes.end() ? nullptr : std::get_if<Subgraph>(&found->second);
  onnx::GraphProto graph;
  if (body == nullptr || !graph.ParseFromString(body->serialized)) {
    throw InvalidInput(fmt::format("{}: it has no body '{}'", NodeLabel(node), attribute));
  }
  return graph;
}

onnx::ModelProto BodyAsModel(const OnnxDraft& outer, const Node& node, onnx::GraphProto body,
                             const std::vector<TypedShape>& types) {
  if (static_cast<std::size_t>(body.input_size()) != types.size()) {
    throw InvalidInput(
        fmt::format("{}: its body takes {} values and is given {}", NodeLabel(node), body.input_size(), types.size()));
  }
  for (std::size_t i = 0; i < types.size(); ++i) SetType(body.mutable_input(static_cast<int>(i)), types[i]);
  const std::vector<std::string> names = NamesCaptured(body);
  for (const std::string& name : names) {
    const Value* value = nullptr;
    for (const int id : node.captured) {
      const Value& candidate = outer.model.values[static_cast<std::size_t>(id)];
      if (candidate.name == name) value = &candidate;
    }
    if (value == nullptr)
      throw InvalidInput(fmt::format("{}: its body reads '{}', which nothing makes", NodeLabel(node), name));
    if (value->constant != nullptr && ElementsOf(value->shape) <= kMostElementsCopied) {
      FillTensor(*value->constant, name, body.add_initializer());
    } else {
      onnx::ValueInfoProto* input = body.add_input();
      input->set_name(name);
      SetType(input, {value->type, value->shape});
    }
  }
  onnx::ModelProto model;
  model.set_ir_version(kNewestKnownIrVersion);
  AddImport(model, "", outer.model.opset);
  for (const auto& [domain, version] : outer.model.foreign_opsets) AddImport(model, domain, version);
  for (const std::string& function : outer.model.functions) model.add_functions()->ParseFromString(function);
  *model.mutable_graph() = std::move(body);
  return model;
}

}  // namespace millrace
