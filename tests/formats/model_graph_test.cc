// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/model_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_flops.h"
#include "tests/formats/onnx_sample.h"

namespace millrace::testing {
namespace {

using ::testing::ElementsAre;

TEST(ModelGraph, CountsFlopsWeightsAndBytesOfASmallNetwork) {
  const ComputationGraph graph = GraphOfModel(Import(SmallNetwork().message));
  ASSERT_EQ(graph.num_ops(), 4);
  EXPECT_EQ(graph.op(0).name, "conv");
  EXPECT_EQ(graph.op(0).type, "Conv");
  EXPECT_EQ(graph.op(0).layer, 3);
  EXPECT_DOUBLE_EQ(graph.op(0).flops, 4 * 64 * (2 * 27 + 1));
  EXPECT_DOUBLE_EQ(graph.op(0).weight_bytes, 4 * (108 + 4));
  EXPECT_DOUBLE_EQ(graph.op(1).flops, 256);
  EXPECT_EQ(graph.op(2).name, "Flatten_2");
  EXPECT_DOUBLE_EQ(graph.op(2).flops, 0);
  EXPECT_EQ(graph.op(2).bytes_accessed, 0.0);
  EXPECT_DOUBLE_EQ(graph.op(3).flops, 2 * 256 * 10);
  EXPECT_DOUBLE_EQ(graph.op(3).weight_bytes, 4 * 2560);
  ASSERT_EQ(graph.num_tensors(), 5);
  EXPECT_EQ(graph.tensor(0).name, "x");
  EXPECT_EQ(graph.tensor(0).producer, -1);
  EXPECT_DOUBLE_EQ(graph.tensor(1).bytes, 4 * 256);
  EXPECT_THAT(graph.tensor(1).consumers, ElementsAre(1));
  EXPECT_TRUE(graph.tensor(4).output);
}

TEST(ModelGraph, CountsAConstantReadTwiceByOneOpOnce) {
  MessageBuilder builder;
  builder.Input("x", {4});
  builder.Floats("w", {4});
  builder.Op("Sum", {"x", "w", "w"}, {"a"});
  builder.Op("Add", {"a", "w"}, {"y"});
  builder.Output("y");
  const ComputationGraph graph = GraphOfModel(Import(builder.message));
  EXPECT_DOUBLE_EQ(graph.op(0).weight_bytes, 16);
  EXPECT_DOUBLE_EQ(graph.op(0).flops, 8);
  EXPECT_DOUBLE_EQ(graph.op(1).weight_bytes, 16);
}

TEST(ModelGraph, LeavesOutInputsNobodyReadsAndMarksInputsHandedThrough) {
  MessageBuilder builder;
  builder.Input("x", {4});
  builder.Input("unread", {4});
  builder.Input("through", {4});
  builder.Op("Relu", {"x"}, {"y"});
  builder.Output("y");
  builder.Output("through");
  const Model model = Import(builder.message);
  EXPECT_EQ(model.inputs.size(), 3u);
  const ComputationGraph graph = GraphOfModel(model);
  ASSERT_EQ(graph.num_tensors(), 3);
  EXPECT_EQ(graph.tensor(1).name, "through");
  EXPECT_TRUE(graph.tensor(1).output);
}

TEST(ModelGraph, GatherReadsOnlyWhatItTakes) {
  MessageBuilder builder;
  builder.Input("x", {3})->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  builder.Floats("table", {1000, 8});
  builder.Op("Gather", {"table", "x"}, {"y"});
  builder.Output("y");
  const ComputationGraph graph = GraphOfModel(Import(builder.message));
  EXPECT_DOUBLE_EQ(graph.op(0).weight_bytes, 32000);
  EXPECT_EQ(graph.op(0).bytes_accessed, 2.0 * 3 * 8 * 4 + 3 * 8);
}

// A transposed convolution is the convolution's own gradient: same extents, same multiplications.
TEST(ModelFlops, OfATransposedConvolutionAreThoseOfTheConvolutionItReverses) {
  MessageBuilder builder;
  builder.Input("x", {2, 6, 9, 9});
  builder.Floats("w", {8, 3, 3, 3});
  onnx::NodeProto* conv = builder.Op("Conv", {"x", "w"}, {"c"});
  SetInt(conv, "group", 2);
  SetInts(conv, "strides", {2, 2});
  onnx::NodeProto* back = builder.Op("ConvTranspose", {"c", "w"}, {"y"});
  SetInt(back, "group", 2);
  SetInts(back, "strides", {2, 2});
  builder.Output("y");
  const ComputationGraph graph = GraphOfModel(Import(builder.message));
  EXPECT_DOUBLE_EQ(graph.op(0).flops, 2.0 * 2 * 8 * 4 * 4 * 27);
  EXPECT_DOUBLE_EQ(graph.op(1).flops, graph.op(0).flops);
}

TEST(ModelFlops, OfAnLstmAreItsMatrixProductsAndGates) {
  MessageBuilder builder;
  builder.Input("x", {5, 2, 7});
  builder.Floats("w", {1, 4 * 3, 7});
  builder.Floats("r", {1, 4 * 3, 3});
  SetInt(builder.Op("LSTM", {"x", "w", "r"}, {"y"}), "hidden_size", 3);
  builder.Output("y");
  const double products = 2.0 * 5 * 2 * (4 * 3 * 7 + 4 * 3 * 3);
  const double flops = GraphOfModel(Import(builder.message)).op(0).flops;
  EXPECT_GT(flops, products);
  EXPECT_LT(flops, products + 5 * 2 * 4 * 3 * 10);
}

TEST(ModelFlops, OfMatrixProductsAgreeHoweverTheyAreWritten) {
  MessageBuilder builder;
  builder.Input("a", {3, 4, 5});
  builder.Input("b", {3, 5, 6});
  builder.Op("MatMul", {"a", "b"}, {"m"});
  onnx::NodeProto* einsum = builder.Op("Einsum", {"a", "b"}, {"e"});
  onnx::AttributeProto* equation = einsum->add_attribute();
  equation->set_name("equation");
  equation->set_type(onnx::AttributeProto::STRING);
  equation->set_s("bij, bjk -> bik");
  builder.Op("Add", {"m", "e"}, {"y"});
  builder.Output("y");
  const ComputationGraph graph = GraphOfModel(Import(builder.message));
  EXPECT_DOUBLE_EQ(graph.op(0).flops, 2.0 * 3 * 4 * 5 * 6);
  EXPECT_DOUBLE_EQ(graph.op(1).flops, graph.op(0).flops);
}

TEST(ModelGraph, RefusesIdsThatAreNone) {
  Model model = Import(SmallNetwork().message);
  model.nodes[1].inputs[0] = 1000;
  EXPECT_THROW(GraphOfModel(model), InvalidInput);
}

}  // namespace
}  // namespace millrace::testing
