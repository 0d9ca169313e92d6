// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_newer.h"
#include "millrace/formats/onnx_tensor.h"
#include "millrace/formats/onnx_validate.h"

namespace millrace {
namespace {

// Filled constants up to this size are written out: below it a node more costs more than it saves.
constexpr std::size_t kMostFilledBytesWritten = 256;
// Shapes, axes, pads, scales and the like are this small; weights are not.
constexpr std::int64_t kMostIntegersSketched = 4096;
constexpr std::int64_t kMostOthersSketched = 64;
// A protobuf message ends at 2 GB; this leaves room for everything but the elements.
constexpr std::size_t kMostElementBytes = std::size_t{2000} << 20;

void FillAttribute(const std::string& name, const Attribute& value, onnx::AttributeProto* message) {
  using onnx::AttributeProto;
  message->set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    message->set_type(AttributeProto::INT);
    message->set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    message->set_type(AttributeProto::FLOAT);
    message->set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    message->set_type(AttributeProto::STRING);
    message->set_s(*text);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    message->set_type(AttributeProto::INTS);
    for (const std::int64_t element : *integers) message->add_ints(element);
  } else if (const auto* numbers = std::get_if<std::vector<float>>(&value)) {
    message->set_type(AttributeProto::FLOATS);
    for (const float element : *numbers) message->add_floats(element);
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    message->set_type(AttributeProto::STRINGS);
    for (const std::string& element : *texts) message->add_strings(element);
  } else if (const auto* constant = std::get_if<std::shared_ptr<const ConstantData>>(&value)) {
    message->set_type(AttributeProto::TENSOR);
    FillTensor(**constant, "", message->mutable_t());
  } else {
    message->set_type(AttributeProto::GRAPH);
    if (!message->mutable_g()->ParseFromString(std::get<Subgraph>(value).serialized)) {
      throw WorkFailed("the body in attribute '" + name + "' is no ONNX graph and cannot be written");
    }
  }
}

void FillType(DataType type, const Shape& shape, onnx::ValueInfoProto* info) {
  onnx::TypeProto::Tensor* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(OnnxTypeOf(type));
  onnx::TensorShapeProto* dimensions = tensor->mutable_shape();
  for (const std::int64_t dimension : shape) dimensions->add_dim()->set_dim_value(dimension);
}

class MessageMaker {
 public:
  explicit MessageMaker(const Model& model) : model_(model) {
    for (const Value& value : model.values) names_.insert(value.name);
  }

  onnx::ModelProto Whole() {
    Header(model_.opset, model_.opset > kNewestKnownOpset ? kIrVersionOfNewerOpsets : kNewestKnownIrVersion);
    std::size_t bytes = 0;
    const std::set<int> outputs(model_.outputs.begin(), model_.outputs.end());
    for (std::size_t i = 0; i < model_.values.size(); ++i) {
      const Value& value = model_.values[i];
      if (value.constant == nullptr) continue;
      if (value.constant->type() == DataType::kString) throw WorkFailed("string constants cannot be written");
      const bool as_node = value.constant->filled() && value.constant->bytes() > kMostFilledBytesWritten &&
                           value.constant->type() != DataType::kBfloat16 && model_.opset >= 9 &&
                           outputs.count(static_cast<int>(i)) == 0;
      if (as_node) {
        AddConstantOfShape(value);
        continue;
      }
      bytes += value.constant->bytes();
      if (bytes > kMostElementBytes) {
        throw WorkFailed(fmt::format("the model's constants take more than {} MB, more than one ONNX file can hold",
                                     kMostElementBytes >> 20));
      }
      FillTensor(*value.constant, value.name, graph_->add_initializer());
    }
    for (const int id : model_.inputs) Describe(ValueOf(id), graph_->add_input());
    for (const Node& node : model_.nodes) AddNode(node);
    for (const int id : model_.outputs) Describe(ValueOf(id), graph_->add_output());
    for (std::size_t i = 0; i < model_.values.size(); ++i) {
      const Value& value = model_.values[i];
      if (value.producer >= 0 && outputs.count(static_cast<int>(i)) == 0) Describe(value, graph_->add_value_info());
    }
    return std::move(message_);
  }

  onnx::ModelProto Sketch(const OnnxDraft& draft) {
    Header(std::min(model_.opset, kNewestKnownOpset), kNewestKnownIrVersion);
    AddImport(std::string(kUnseenDomain), 1);
    for (const Value& value : model_.values) {
      if (value.constant == nullptr) continue;
      const DataType type = value.constant->type();
      const bool integers = type == DataType::kInt64 || type == DataType::kInt32;
      const std::int64_t elements = ElementsOf(value.constant->shape());
      if (elements <= (integers ? kMostIntegersSketched : kMostOthersSketched)) {
        FillTensor(*value.constant, value.name, graph_->add_initializer());
      } else {
        Describe(value, graph_->add_input());
      }
    }
    for (const int id : model_.inputs) Describe(ValueOf(id), graph_->add_input());
    for (const Node& node : model_.nodes) PutForLibonnx(node, model_.opset, AddNode(node));
    for (const int id : model_.outputs) graph_->add_output()->set_name(ValueOf(id).name);
    for (std::size_t i = 0; i < model_.values.size(); ++i) {
      const Value& value = model_.values[i];
      if (value.producer >= 0 && draft.known[i] != 0) Describe(value, graph_->add_value_info());
    }
    return std::move(message_);
  }

 private:
  const Value& ValueOf(int id) const { return model_.values[static_cast<std::size_t>(id)]; }

  static void Describe(const Value& value, onnx::ValueInfoProto* info) {
    info->set_name(value.name);
    FillType(value.type, value.shape, info);
  }

  void AddImport(const std::string& domain, std::int64_t version) {
    onnx::OperatorSetIdProto* import = message_.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }

  void Header(std::int64_t opset, std::int64_t ir_version) {
    message_.set_ir_version(ir_version);
    message_.set_producer_name("millrace");
    graph_ = message_.mutable_graph();
    graph_->set_name(model_.name.empty() ? "model" : model_.name);
    AddImport("", opset);
    for (const auto& [domain, version] : model_.foreign_opsets) AddImport(domain, version);
    for (const auto& [key, value] : model_.metadata) {
      onnx::StringStringEntryProto* entry = message_.add_metadata_props();
      entry->set_key(key);
      entry->set_value(value);
    }
    for (const std::string& function : model_.functions) {
      if (!message_.add_functions()->ParseFromString(function)) {
        throw WorkFailed("a function of the model is no ONNX function and cannot be written");
      }
    }
  }

  std::string NewName(const std::string& wish) {
    std::string name = wish;
    for (int i = 1; !names_.insert(name).second; ++i) name = wish + "_" + std::to_string(i);
    return name;
  }

  void AddConstantOfShape(const Value& value) {
    const std::string shape_name = NewName(value.name + "_shape");
    const ConstantData& constant = *value.constant;
    const auto shape = ConstantData::Int64s({static_cast<std::int64_t>(constant.shape().size())}, constant.shape());
    FillTensor(*shape, shape_name, graph_->add_initializer());
    onnx::NodeProto* node = graph_->add_node();
    node->set_op_type("ConstantOfShape");
    node->set_name(value.name + "_filled");
    node->add_input(shape_name);
    node->add_output(value.name);
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name("value");
    attribute->set_type(onnx::AttributeProto::TENSOR);
    FillTensor(*ConstantData::Dense(constant.type(), {1}, constant.stored()), "", attribute->mutable_t());
  }

  onnx::NodeProto* AddNode(const Node& node) {
    onnx::NodeProto* message = graph_->add_node();
    message->set_name(node.name);
    message->set_op_type(node.op_type);
    message->set_domain(node.domain);
    if (node.layer) message->set_doc_string("layer=" + std::to_string(*node.layer));
    for (const int id : node.inputs) message->add_input(id < 0 ? std::string() : ValueOf(id).name);
    for (const int id : node.outputs) message->add_output(id < 0 ? std::string() : ValueOf(id).name);
    for (const auto& [name, value] : node.attributes) FillAttribute(name, value, message->add_attribute());
    return message;
  }

  const Model& model_;
  std::set<std::string> names_;
  onnx::ModelProto message_;
  onnx::GraphProto* graph_ = nullptr;
};

}  // namespace

onnx::ModelProto MessageOf(const Model& model) { return MessageMaker(model).Whole(); }

onnx::ModelProto SketchOf(const OnnxDraft& draft) { return MessageMaker(draft.model).Sketch(draft); }

}  // namespace millrace
