// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/onnx_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_write.h"

namespace millrace::testing {
namespace {

void AddDimensions(onnx::ValueInfoProto* info, const Shape& shape) {
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  tensor->mutable_shape();
  for (const std::int64_t dimension : shape) tensor->mutable_shape()->add_dim()->set_dim_value(dimension);
}

int AddTensor(Model& model, const std::string& name, const Shape& shape, int producer) {
  Value value;
  value.name = name;
  value.shape = shape;
  value.producer = producer;
  model.values.push_back(std::move(value));
  return static_cast<int>(model.values.size()) - 1;
}

int AddConstant(Model& model, const std::string& name, std::shared_ptr<const ConstantData> constant) {
  const int id = AddTensor(model, name, constant->shape(), -1);
  model.values.back().type = constant->type();
  model.values.back().constant = std::move(constant);
  return id;
}

}  // namespace

MessageBuilder::MessageBuilder() {
  message.set_ir_version(7);
  message.mutable_graph()->set_name("small");
  message.add_opset_import()->set_version(13);
}

onnx::ValueInfoProto* MessageBuilder::Input(const std::string& name, const Shape& shape) {
  onnx::ValueInfoProto* input = message.mutable_graph()->add_input();
  input->set_name(name);
  AddDimensions(input, shape);
  return input;
}

onnx::TensorProto* MessageBuilder::Floats(const std::string& name, const Shape& shape) {
  onnx::TensorProto* tensor = message.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t dimension : shape) tensor->add_dims(dimension);
  tensor->mutable_raw_data()->resize(static_cast<std::size_t>(ElementsOf(shape)) * sizeof(float));
  return tensor;
}

onnx::TensorProto* MessageBuilder::Int64s(const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::TensorProto* tensor = message.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor->add_int64_data(value);
  return tensor;
}

onnx::NodeProto* MessageBuilder::Op(const std::string& op_type, const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs) {
  onnx::NodeProto* node = message.mutable_graph()->add_node();
  node->set_op_type(op_type);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return node;
}

onnx::ValueInfoProto* MessageBuilder::Output(const std::string& name) {
  onnx::ValueInfoProto* output = message.mutable_graph()->add_output();
  output->set_name(name);
  output->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  return output;
}

void SetInts(onnx::NodeProto* node, const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute->add_ints(value);
}

void SetInt(onnx::NodeProto* node, const std::string& name, std::int64_t value) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

MessageBuilder SmallNetwork() {
  MessageBuilder builder;
  builder.Input("x", {1, 3, 8, 8});
  builder.Floats("w", {4, 3, 3, 3});
  builder.Floats("b", {4});
  builder.Floats("m", {4 * 8 * 8, 10});
  onnx::NodeProto* conv = builder.Op("Conv", {"x", "w", "b"}, {"c"});
  SetInts(conv, "pads", {1, 1, 1, 1});
  conv->set_name("conv");
  conv->set_doc_string("layer=3");
  builder.Op("Relu", {"c"}, {"r"})->set_name("relu");
  builder.Op("Flatten", {"r"}, {"f"});
  builder.Op("Gemm", {"f", "m"}, {"y"})->set_name("gemm");
  builder.Output("y");
  return builder;
}

Model Import(const onnx::ModelProto& message, const OnnxReadOptions& options, std::vector<std::string>* warnings) {
  std::vector<std::string> ignored;
  return ImportOnnx(message.SerializeAsString(), nullptr, options, ShapeSource::kInference,
                    warnings == nullptr ? ignored : *warnings);
}

std::string Complaint(const onnx::ModelProto& message, const OnnxReadOptions& options) {
  try {
    Import(message, options);
    return "";
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

Model Reread(const Model& model) {
  std::vector<std::string> warnings;
  Model again = ImportOnnx(OnnxBytes(model), nullptr, {}, ShapeSource::kInference, warnings);
  EXPECT_THAT(warnings, ::testing::IsEmpty());
  return again;
}

const Value& ValueNamed(const Model& model, const std::string& name) {
  for (const Value& value : model.values) {
    if (value.name == name) return value;
  }
  throw InvalidInput("the model has no value " + name);
}

std::vector<std::string> OpTypes(const Model& model) {
  std::vector<std::string> types;
  for (const Node& node : model.nodes) types.push_back(node.op_type);
  return types;
}

Model RandomModel(Random& random, int nodes) {
  const Shape square{4, 4};
  Model model;
  model.name = "random";
  model.metadata["author"] = "test";
  std::vector<int> squares;
  for (int i = 0; i < 2; ++i) {
    model.inputs.push_back(AddTensor(model, "input" + std::to_string(i), square, -1));
    squares.push_back(model.inputs.back());
  }
  const auto pick = [&] { return squares[random.Below(squares.size())]; };
  const auto constant = [&](const std::string& name) {
    if (random.Below(2) == 0) {
      const float one = static_cast<float>(random.Uniform());
      std::vector<std::byte> bytes(sizeof one);
      std::memcpy(bytes.data(), &one, sizeof one);
      return AddConstant(model, name, ConstantData::Filled(DataType::kFloat32, {100, 4, 4}, bytes));
    }
    std::vector<float> values(16);
    for (float& value : values) value = static_cast<float>(random.Normal());
    return AddConstant(model, name, ConstantData::Floats(square, values));
  };
  while (static_cast<int>(model.nodes.size()) < nodes) {
    const int index = static_cast<int>(model.nodes.size());
    Node node;
    node.name = random.Below(3) == 0 ? std::string() : "node" + std::to_string(index);
    const std::string made = "value" + std::to_string(index);
    const std::uint64_t kind = random.Below(4);
    Shape shape = square;
    if (kind == 0) {
      node.op_type = "Relu";
      node.inputs = {pick()};
    } else if (kind == 1) {
      node.op_type = "Add";
      node.inputs = {pick(), pick()};
    } else if (kind == 2) {
      node.op_type = "MatMul";
      node.inputs = {pick(), constant("weight" + std::to_string(index))};
      shape = model.values[static_cast<std::size_t>(node.inputs[1])].shape;
    } else {
      node.op_type = "Split";
      node.inputs = {pick()};
      node.attributes["axis"] = std::int64_t{0};
      shape = {2, 4};
    }
    if (random.Below(3) == 0) node.layer = static_cast<int>(random.Below(5));
    node.outputs.push_back(AddTensor(model, made, shape, index));
    if (node.op_type == "Split") node.outputs.push_back(AddTensor(model, made + "b", shape, index));
    const std::vector<int> outputs = node.outputs;
    model.nodes.push_back(std::move(node));
    if (kind == 3) {
      Node join;
      join.op_type = "Concat";
      join.attributes["axis"] = std::int64_t{0};
      join.inputs = {outputs[1], outputs[0]};
      join.outputs = {AddTensor(model, made + "c", square, index + 1)};
      squares.push_back(join.outputs[0]);
      model.nodes.push_back(std::move(join));
    } else if (shape == square) {
      squares.push_back(outputs[0]);
    }
  }
  // Whatever nobody reads is an output, so that no node is dead.
  std::vector<char> read(model.values.size(), 0);
  for (const Node& node : model.nodes) {
    for (const int id : node.inputs) read[static_cast<std::size_t>(id)] = 1;
  }
  for (const Node& node : model.nodes) {
    for (const int id : node.outputs) {
      if (read[static_cast<std::size_t>(id)] == 0) model.outputs.push_back(id);
    }
  }
  return model;
}

}  // namespace millrace::testing
