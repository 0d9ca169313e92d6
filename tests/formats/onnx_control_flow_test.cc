// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/formats/model_graph.h"
#include "tests/formats/onnx_sample.h"

// If, Loop and Scan on their way in.
namespace millrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Value& OutputOf(const Model& model, std::size_t i = 0) {
  return model.values[static_cast<std::size_t>(model.outputs[i])];
}

onnx::GraphProto* AddBody(onnx::NodeProto* node, const std::string& name) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name(name);
  return attribute->mutable_g();
}

onnx::NodeProto* AddNode(onnx::GraphProto* body, const std::string& op, const std::vector<std::string>& inputs,
                         const std::string& output) {
  onnx::NodeProto* node = body->add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

void SetTensor(onnx::ValueInfoProto* info, const std::string& name, int type) {
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

MessageBuilder OfOpset(std::int64_t opset) {
  MessageBuilder builder;
  builder.message.set_ir_version(8);
  builder.message.mutable_opset_import(0)->set_version(opset);
  return builder;
}

// Exporters write a squeeze of an axis whose size they do not know as: is it 1? then Squeeze, else as it is.
MessageBuilder MaybeSqueezed(std::int64_t opset, std::int64_t extent) {
  MessageBuilder builder = OfOpset(opset);
  builder.Input("x", {extent, 3});
  builder.Int64s("zero", {0})->clear_dims();
  builder.Int64s("one", {1})->clear_dims();
  builder.Op("Relu", {"x"}, {"r"});
  builder.Op("Shape", {"r"}, {"shape"});
  builder.Op("Gather", {"shape", "zero"}, {"size"});
  builder.Op("Equal", {"size", "one"}, {"is one"});
  onnx::NodeProto* choice = builder.Op("If", {"is one"}, {"s"});
  choice->set_name("choice");
  onnx::GraphProto* yes = AddBody(choice, "then_branch");
  onnx::TensorProto* axes = yes->add_initializer();
  axes->set_name("axes");
  axes->set_data_type(onnx::TensorProto::INT64);
  axes->add_dims(1);
  axes->add_int64_data(0);
  AddNode(yes, "Squeeze", {"r", "axes"}, "r2");
  AddNode(yes, "Neg", {"r2"}, "result");
  SetTensor(yes->add_output(), "result", onnx::TensorProto::FLOAT);
  onnx::GraphProto* no = AddBody(choice, "else_branch");
  AddNode(no, "Identity", {"r"}, "result");
  SetTensor(no->add_output(), "result", onnx::TensorProto::FLOAT);
  builder.Op("Exp", {"s"}, {"r2"});  // the branch's own name for another value
  builder.Op("Abs", {"r2"}, {"y"});
  builder.Output("y");
  return builder;
}

TEST(OnnxControlFlow, AnIfWithAConstantConditionBecomesTheBranchItTakes) {
  for (const std::int64_t opset : {13, 18, 21}) {
    const Model squeezed = Import(MaybeSqueezed(opset, 1).message);
    EXPECT_THAT(OpTypes(squeezed), ElementsAre("Relu", "Squeeze", "Neg", "Exp", "Abs")) << opset;
    EXPECT_EQ(OutputOf(squeezed).shape, (Shape{3}));
    const Model kept = Import(MaybeSqueezed(opset, 2).message);
    EXPECT_THAT(OpTypes(kept), ElementsAre("Relu", "Identity", "Exp", "Abs")) << opset;
    EXPECT_EQ(OutputOf(kept).shape, (Shape{2, 3}));
    EXPECT_EQ(OpTypes(Reread(squeezed)), OpTypes(squeezed));
  }
}

TEST(OnnxControlFlow, IfsWithinIfsAreFoldedToo) {
  MessageBuilder builder = OfOpset(18);
  builder.Input("x", {2, 3});
  onnx::TensorProto* yes = builder.message.mutable_graph()->add_initializer();
  yes->set_name("yes");
  yes->set_data_type(onnx::TensorProto::BOOL);
  yes->add_int32_data(1);
  onnx::NodeProto* outer = builder.Op("If", {"yes"}, {"y"});
  for (const std::string name : {"then_branch", "else_branch"}) {
    onnx::GraphProto* body = AddBody(outer, name);
    AddNode(body, name == "then_branch" ? "Exp" : "Neg", {"x"}, "t");
    onnx::NodeProto* inner = AddNode(body, "If", {"yes"}, "u");
    for (const std::string deep : {"then_branch", "else_branch"}) {
      onnx::GraphProto* leaf = AddBody(inner, deep);
      AddNode(leaf, deep == "then_branch" ? "Sqrt" : "Abs", {"t"}, "v");
      SetTensor(leaf->add_output(), "v", onnx::TensorProto::FLOAT);
    }
    SetTensor(body->add_output(), "u", onnx::TensorProto::FLOAT);
  }
  builder.Output("y");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("Exp", "Sqrt"));
  EXPECT_EQ(OutputOf(model).name, "y");
}

TEST(OnnxControlFlow, ABranchMayHandOutOneValueTwiceOrOneItCaptures) {
  MessageBuilder builder = OfOpset(18);
  builder.Input("x", {2, 3});
  onnx::TensorProto* yes = builder.message.mutable_graph()->add_initializer();
  yes->set_name("yes");
  yes->set_data_type(onnx::TensorProto::BOOL);
  yes->add_int32_data(1);
  onnx::NodeProto* choice = builder.Op("If", {"yes"}, {"a", "b", "c"});
  for (const std::string name : {"then_branch", "else_branch"}) {
    onnx::GraphProto* body = AddBody(choice, name);
    AddNode(body, "Exp", {"x"}, "t");
    for (const std::string output : {"t", "t", "x"}) SetTensor(body->add_output(), output, onnx::TensorProto::FLOAT);
  }
  for (const std::string name : {"a", "b", "c"}) builder.Output(name);
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("Exp", "Identity", "Identity"));
  EXPECT_EQ(model.nodes[1].inputs, model.nodes[0].outputs);
  EXPECT_EQ(model.nodes[2].inputs, model.inputs);
}

TEST(OnnxControlFlow, WhetherAnOptionalTensorIsGivenIsAConstant) {
  for (const bool given : {false, true}) {
    MessageBuilder builder = OfOpset(18);
    builder.Input("x", {2, 3});
    builder.Op("OptionalHasElement", {given ? "x" : ""}, {"given"});
    onnx::NodeProto* choice = builder.Op("If", {"given"}, {"y"});
    for (const std::string name : {"then_branch", "else_branch"}) {
      onnx::GraphProto* body = AddBody(choice, name);
      AddNode(body, name == "then_branch" ? "Exp" : "Neg", {"x"}, "t");
      SetTensor(body->add_output(), "t", onnx::TensorProto::FLOAT);
    }
    builder.Output("y");
    EXPECT_THAT(OpTypes(Import(builder.message)), ElementsAre(given ? "Exp" : "Neg"));
  }
}

TEST(OnnxControlFlow, AnIfWhoseConditionIsComputedIsOneOpWithTheShapesOfItsBranches) {
  for (const std::int64_t opset : {13, 20}) {
    MessageBuilder builder = OfOpset(opset);
    builder.Input("x", {2, 3});
    builder.Input("c", {})->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
    onnx::NodeProto* choice = builder.Op("If", {"c"}, {"y"});
    for (const std::string name : {"then_branch", "else_branch"}) {
      onnx::GraphProto* body = AddBody(choice, name);
      SetInts(AddNode(body, "Transpose", {"x"}, "t"), "perm", {1, 0});
      AddNode(body, opset < 20 ? "Relu" : "Gelu", {"t"}, "g");
      SetTensor(body->add_output(), "g", onnx::TensorProto::FLOAT);
    }
    builder.Output("y");
    const Model model = Import(builder.message);
    EXPECT_THAT(OpTypes(model), ElementsAre("If"));
    EXPECT_EQ(OutputOf(model).shape, (Shape{3, 2}));
    EXPECT_EQ(GraphOfModel(model).num_ops(), 1);
    EXPECT_EQ(OutputOf(Reread(model)).shape, (Shape{3, 2}));
  }
}

// x carried, its rows stacked `times` times.
MessageBuilder Stacking(std::int64_t opset, bool always) {
  MessageBuilder builder = OfOpset(opset);
  builder.Input("x", {2, 3});
  builder.Int64s("times", {5})->clear_dims();
  onnx::NodeProto* loop = builder.Op("Loop", {"times", "", "x"}, {"last", "y"});
  onnx::GraphProto* body = AddBody(loop, "body");
  for (const auto& [name, type] : {std::pair{"i", onnx::TensorProto::INT64}, {"go", onnx::TensorProto::BOOL}}) {
    SetTensor(body->add_input(), name, type);
    body->mutable_input(body->input_size() - 1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  }
  SetTensor(body->add_input(), "state", onnx::TensorProto::FLOAT);
  AddNode(body, always ? "Identity" : "Not", {"go"}, "go on");
  AddNode(body, "Neg", {"state"}, "next");
  SetInt(AddNode(body, "ReduceMax", {"state"}, "row"), "keepdims", 0);
  SetTensor(body->add_output(), "go on", onnx::TensorProto::BOOL);
  for (const std::string name : {"next", "row"}) SetTensor(body->add_output(), name, onnx::TensorProto::FLOAT);
  builder.Output("last");
  builder.Output("y");
  return builder;
}

TEST(OnnxControlFlow, ALoopOfACertainLengthIsOneOpWithKnownShapes) {
  for (const std::int64_t opset : {13, 18}) {
    const Model model = Import(Stacking(opset, true).message);
    EXPECT_THAT(OpTypes(model), ElementsAre("Loop"));
    EXPECT_EQ(OutputOf(model, 0).shape, (Shape{2, 3}));
    EXPECT_EQ(OutputOf(model, 1).shape, (Shape{5}));
  }
}

TEST(OnnxControlFlow, ALoopThatMayEndEarlyHasToStateItsShapes) {
  MessageBuilder builder = Stacking(18, false);
  EXPECT_THAT(Complaint(builder.message), HasSubstr("op (Loop): the shape of its output 'y' cannot be inferred"));
  auto* stated = builder.message.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type();
  stated->mutable_shape()->add_dim()->set_dim_value(4);
  EXPECT_EQ(OutputOf(Import(builder.message), 1).shape, (Shape{4}));
}

TEST(OnnxControlFlow, AScanIsOneOpWithTheShapesOfItsBody) {
  for (const std::int64_t opset : {13, 19}) {
    MessageBuilder builder = OfOpset(opset);
    builder.Input("start", {3});
    builder.Input("x", {3, 7});
    onnx::NodeProto* scan = builder.Op("Scan", {"start", "x"}, {"sum", "y"});
    SetInt(scan, "num_scan_inputs", 1);
    SetInts(scan, "scan_input_axes", {1});
    SetInts(scan, "scan_output_axes", {-1});
    onnx::GraphProto* body = AddBody(scan, "body");
    for (const std::string name : {"before", "column"}) SetTensor(body->add_input(), name, onnx::TensorProto::FLOAT);
    AddNode(body, "Add", {"before", "column"}, "after");
    AddNode(body, "Identity", {"after"}, "copy");
    for (const std::string name : {"after", "copy"}) SetTensor(body->add_output(), name, onnx::TensorProto::FLOAT);
    builder.Output("sum");
    builder.Output("y");
    const Model model = Import(builder.message);
    EXPECT_THAT(OpTypes(model), ElementsAre("Scan"));
    EXPECT_EQ(OutputOf(model, 0).shape, (Shape{3}));
    EXPECT_EQ(OutputOf(model, 1).shape, (Shape{3, 7}));
  }
}

TEST(OnnxControlFlow, BodiesThatDoNotFitTheirNodeAreRefusedInOneLine) {
  MessageBuilder builder = Stacking(18, true);
  builder.message.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_output()->RemoveLast();
  EXPECT_THAT(Complaint(builder.message), HasSubstr("it has 2 outputs and its body 2"));
  builder = MaybeSqueezed(18, 1);
  for (onnx::NodeProto& node : *builder.message.mutable_graph()->mutable_node()) {
    if (node.op_type() == "If") node.mutable_attribute(0)->mutable_g()->clear_output();
  }
  EXPECT_THAT(Complaint(builder.message), HasSubstr("it has 1 outputs and the branch it takes has 0"));
}

}  // namespace
}  // namespace millrace::testing
