// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_write.h"
#include "tests/formats/onnx_sample.h"
#include "tests/reference/temporary_folder.h"

namespace millrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void SetName(onnx::ValueInfoProto* info, int dimension, const std::string& name) {
  info->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(dimension)->set_dim_param(name);
}

TEST(OnnxRead, InfersTheShapesAModelDoesNotState) {
  std::vector<std::string> warnings;
  const Model model = Import(SmallNetwork().message, {}, &warnings);
  EXPECT_THAT(OpTypes(model), ElementsAre("Conv", "Relu", "Flatten", "Gemm"));
  EXPECT_EQ(ValueNamed(model, "c").shape, (Shape{1, 4, 8, 8}));
  EXPECT_EQ(ValueNamed(model, "f").shape, (Shape{1, 256}));
  EXPECT_EQ(ValueNamed(model, "y").shape, (Shape{1, 10}));
  EXPECT_EQ(model.nodes[0].layer, 3);
  EXPECT_EQ(model.opset, 13);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("output 'y' does not state its shape")));
}

TEST(OnnxRead, SortsNodesThatAreNotInOrder) {
  MessageBuilder builder = SmallNetwork();
  builder.message.mutable_graph()->mutable_node()->SwapElements(0, 3);
  EXPECT_THAT(OpTypes(Import(builder.message)), ElementsAre("Conv", "Relu", "Flatten", "Gemm"));
}

TEST(OnnxRead, SubtractsInitializersFromTheInputs) {
  MessageBuilder builder = SmallNetwork();
  builder.Input("w", {4, 3, 3, 3});
  const Model model = Import(builder.message);
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.values[static_cast<std::size_t>(model.inputs[0])].name, "x");
}

TEST(OnnxRead, DropsNodesAndOptionalOutputsNobodyNeeds) {
  MessageBuilder builder = SmallNetwork();
  builder.Op("Exp", {"c"}, {"unread"});
  builder.Op("Exp", {"unread"}, {"unread too"});
  builder.Op("Dropout", {"y"}, {"z", "mask"});
  builder.message.mutable_graph()->mutable_output(0)->set_name("z");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("Conv", "Relu", "Flatten", "Gemm", "Dropout"));
  EXPECT_EQ(model.nodes.back().outputs.size(), 1u);
}

TEST(OnnxRead, FoldsWeightMakingNodesLazily) {
  MessageBuilder builder;
  builder.Input("x", {1, 32768});
  builder.Int64s("shape", {32768, 32768});  // 4 GB of weights
  builder.Op("ConstantOfShape", {"shape"}, {"weights"});
  builder.Op("Identity", {"weights"}, {"same"});
  SetInts(builder.Op("Transpose", {"same"}, {"turned"}), "perm", {1, 0});
  builder.Op("MatMul", {"x", "turned"}, {"y"});
  builder.Output("y");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("MatMul"));
  const Value& weights = ValueNamed(model, "turned");
  ASSERT_NE(weights.constant, nullptr);
  EXPECT_TRUE(weights.constant->filled());
  EXPECT_EQ(weights.shape, (Shape{32768, 32768}));
  EXPECT_DOUBLE_EQ(GraphOfModel(model).op(0).weight_bytes, 4.0 * 32768 * 32768);
}

// The shape arithmetic that exporters write for x.view(x.size(0), -1, 2), twice so that the second depends on the
// first.
TEST(OnnxRead, FoldsComputedShapes) {
  MessageBuilder builder;
  builder.Input("x", {6, 4, 2});
  builder.Int64s("zero", {0})->clear_dims();
  builder.Int64s("axes", {0});
  builder.Int64s("minus one", {-1});
  builder.Int64s("two", {2});
  std::string from = "x";
  for (const std::string stage : {"a", "b"}) {
    builder.Op("Relu", {from}, {stage + "relu"});
    builder.Op("Shape", {stage + "relu"}, {stage + "shape"});
    builder.Op("Gather", {stage + "shape", "zero"}, {stage + "size"});
    builder.Op("Unsqueeze", {stage + "size", "axes"}, {stage + "first"});
    builder.Op("Div", {stage + "first", "two"}, {stage + "half"});
    SetInt(builder.Op("Concat", {stage + "half", "minus one", "two"}, {stage + "wanted"}), "axis", 0);
    builder.Op("Reshape", {stage + "relu", stage + "wanted"}, {stage + "view"});
    from = stage + "view";
  }
  builder.Op("Exp", {"bview"}, {"y"});
  builder.Output("y");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("Relu", "Reshape", "Relu", "Reshape", "Exp"));
  EXPECT_EQ(ValueNamed(model, "aview").shape, (Shape{3, 8, 2}));
  EXPECT_EQ(ValueNamed(model, "y").shape, (Shape{1, 24, 2}));
}

TEST(OnnxRead, FoldsSqueezedWeightsToTheAxesThatAreLeft) {
  MessageBuilder builder;
  builder.Input("x", {2, 3});
  builder.Floats("weights", {1, 3, 1, 4});
  builder.Op("Squeeze", {"weights"}, {"all"});
  SetInts(builder.Op("Squeeze", {"weights"}, {"last"}), "axes", {-2});
  builder.Op("MatMul", {"x", "all"}, {"y"});
  builder.Op("MatMul", {"x", "last"}, {"z"});
  builder.Output("y");
  builder.Output("z");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("MatMul", "MatMul"));
  EXPECT_EQ(ValueNamed(model, "all").shape, (Shape{3, 4}));
  EXPECT_EQ(ValueNamed(model, "last").shape, (Shape{1, 3, 4}));
}

TEST(OnnxRead, BindsSymbolicDimensionsByName) {
  MessageBuilder builder = SmallNetwork();
  SetName(builder.message.mutable_graph()->mutable_input(0), 0, "batch");
  EXPECT_THAT(Complaint(builder.message), HasSubstr("'batch' open; give it with --dim batch=SIZE"));
  OnnxReadOptions options;
  options.dimensions = {{"batch", 5}, {"sequence", 3}};
  std::vector<std::string> warnings;
  const Model model = Import(builder.message, options, &warnings);
  EXPECT_EQ(ValueNamed(model, "y").shape, (Shape{5, 10}));
  EXPECT_THAT(warnings,
              ::testing::Contains(HasSubstr("no input has a dimension 'sequence'; those left open are 'batch'")));
}

TEST(OnnxRead, TakesANamelessFirstDimensionAsOneAndSaysSo) {
  MessageBuilder builder = SmallNetwork();
  auto* shape =
      builder.message.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->clear_value();
  std::vector<std::string> warnings;
  EXPECT_EQ(ValueNamed(Import(builder.message, {}, &warnings), "y").shape, (Shape{1, 10}));
  EXPECT_THAT(warnings, ::testing::Contains(HasSubstr("is taken as 1; --dim x:0=SIZE")));
  OnnxReadOptions options;
  options.dimensions = {{"x:0", 2}};
  EXPECT_EQ(ValueNamed(Import(builder.message, options), "y").shape, (Shape{2, 10}));
  shape->mutable_dim(2)->clear_value();
  EXPECT_THAT(Complaint(builder.message), HasSubstr("--dim x:2=SIZE"));
}

TEST(OnnxRead, BelievesTheFileOnlyWhereInferenceHasNothingToSay) {
  MessageBuilder builder;
  builder.message.add_opset_import()->set_domain("acme");
  builder.message.mutable_opset_import(1)->set_version(2);
  builder.Input("x", {2, 3});
  builder.Op("Secret", {"x"}, {"s"})->set_domain("acme");
  builder.Op("Relu", {"s"}, {"y"});
  builder.Output("y");
  EXPECT_THAT(Complaint(builder.message),
              HasSubstr("op (acme::Secret): the shape of its output 's' cannot be inferred"));
  onnx::ValueInfoProto info = builder.message.graph().input(0);
  info.set_name("s");
  *builder.message.mutable_graph()->add_value_info() = info;
  info.set_name("y");
  info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(77);
  *builder.message.mutable_graph()->mutable_output(0) = info;
  std::vector<std::string> warnings;
  const Model model = Import(builder.message, {}, &warnings);
  EXPECT_EQ(ValueNamed(model, "s").shape, (Shape{2, 3}));
  EXPECT_EQ(ValueNamed(model, "y").shape, (Shape{2, 3}));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("the model states float32 [77, 3] for 'y'")));
  EXPECT_EQ(GraphOfModel(model).op(0).type, "acme::Secret");
}

TEST(OnnxRead, FindsWhatControlFlowBodiesCapture) {
  MessageBuilder builder;
  builder.Input("x", {2, 3});
  builder.Input("c", {})->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
  onnx::NodeProto* branch = builder.Op("If", {"c"}, {"y"});
  for (const std::string name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* attribute = branch->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto* body = attribute->mutable_g();
    body->set_name(name);
    onnx::NodeProto* node = body->add_node();
    node->set_op_type("Relu");
    node->add_input("before");
    node->add_output(name + "_out");
    onnx::ValueInfoProto* output = body->add_output();
    output->set_name(name + "_out");
    output->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  }
  builder.Op("Exp", {"x"}, {"before"});  // after its reader, so the body's dependency decides the order
  builder.Output("y");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("Exp", "If"));
  ASSERT_EQ(model.nodes[1].captured.size(), 1u);
  EXPECT_EQ(model.values[static_cast<std::size_t>(model.nodes[1].captured[0])].name, "before");
  EXPECT_EQ(ValueNamed(model, "y").shape, (Shape{2, 3}));
  EXPECT_THAT(GraphOfModel(model).Predecessors(1), ElementsAre(0));
}

TEST(OnnxRead, KeepsModelLocalFunctionsAsOpaqueOps) {
  MessageBuilder builder;
  builder.message.set_ir_version(8);
  builder.message.add_opset_import()->set_domain("local");
  builder.message.mutable_opset_import(1)->set_version(1);
  onnx::FunctionProto* function = builder.message.add_functions();
  function->set_name("Twice");
  function->set_domain("local");
  function->add_input("a");
  function->add_output("b");
  function->add_opset_import()->set_version(13);
  onnx::NodeProto* sum = function->add_node();
  sum->set_op_type("Add");
  sum->add_input("a");
  sum->add_input("a");
  sum->add_output("b");
  builder.Input("x", {2, 3});
  builder.Op("Twice", {"x"}, {"y"})->set_domain("local");
  builder.Output("y");
  const Model model = Import(builder.message);
  EXPECT_EQ(ValueNamed(model, "y").shape, (Shape{2, 3}));
  EXPECT_EQ(model.functions.size(), 1u);
  std::vector<std::string> warnings;
  const Model again = ImportOnnx(OnnxBytes(model), nullptr, {}, ShapeSource::kInference, warnings);
  EXPECT_EQ(again.functions, model.functions);
  EXPECT_EQ(again.foreign_opsets, model.foreign_opsets);
  EXPECT_EQ(ValueNamed(again, "y").shape, (Shape{2, 3}));
}

TEST(OnnxRead, KeepsNodesThatMakeAnOutputEvenWhereTheyCouldBeFolded) {
  MessageBuilder builder;
  builder.Input("x", {2, 3});
  builder.Int64s("shape", {5, 7});
  builder.Floats("w", {3});
  builder.Op("ConstantOfShape", {"shape"}, {"filled"});
  builder.Op("Shape", {"x"}, {"extents"});
  builder.Op("Relu", {"w"}, {"y"});
  builder.Output("filled");
  builder.Output("extents")->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  builder.Output("y");
  builder.Output("w");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("ConstantOfShape", "Shape", "Relu"));
  EXPECT_EQ(ValueNamed(model, "filled").shape, (Shape{5, 7}));
  EXPECT_NE(model.values[static_cast<std::size_t>(model.outputs[3])].constant, nullptr);
  EXPECT_EQ(GraphOfModel(model).num_tensors(), 4);
}

TEST(OnnxRead, NamesTheFileInEveryComplaint) {
  const TemporaryFolder folder;
  folder.Write("empty.onnx", "");
  for (const std::string& path : {folder.Path("empty.onnx"), folder.Path("missing.onnx"), folder.Path("")}) {
    try {
      ReadOnnx(path);
      ADD_FAILURE() << path;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
  }
}

TEST(OnnxRead, NamesAModelWithoutANameAfterItsFile) {
  const TemporaryFolder folder;
  MessageBuilder builder = SmallNetwork();
  builder.message.mutable_graph()->clear_name();
  folder.Write("tower.onnx", builder.message.SerializeAsString());
  EXPECT_EQ(ReadOnnx(folder.Path("tower.onnx")).name, "tower");
}

}  // namespace
}  // namespace millrace::testing
