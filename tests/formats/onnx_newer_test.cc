// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_newer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "millrace/formats/onnx_tensor.h"
#include "tests/formats/onnx_sample.h"

// Models of the opsets that came after what libonnx 1.12 knows.
namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

void SetText(onnx::NodeProto* node, const std::string& name, const std::string& text) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(text);
}

onnx::TensorProto* Scales(MessageBuilder& builder, const std::string& name, const std::vector<float>& values) {
  onnx::TensorProto* tensor = builder.message.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  tensor->add_dims(static_cast<std::int64_t>(values.size()));
  for (const float value : values) tensor->add_float_data(value);
  return tensor;
}

// A model of one node that reads x of this shape, and what its first output is like.
struct NewerOp {
  std::string name;
  std::int64_t opset;
  Shape input;
  std::function<void(MessageBuilder&)> add;  // makes y
  Shape output;
  std::string complaint = {};  // where it is refused
};

void PrintTo(const NewerOp& op, std::ostream* out) { *out << op.name; }

onnx::NodeProto* Plain(MessageBuilder& b, const std::string& op, const std::vector<std::string>& inputs) {
  return b.Op(op, inputs, {"y"});
}

std::vector<NewerOp> NewerOps() {
  const auto reduce = [](const std::string& op) {
    return [op](MessageBuilder& b) {
      b.Int64s("axes", {1, -1});
      SetInt(Plain(b, op, {"x", "axes"}), "keepdims", 0);
    };
  };
  const auto resize = [](const std::string& policy) {
    return [policy](MessageBuilder& b) {
      b.Int64s("sizes", {7, 8});
      onnx::NodeProto* node = Plain(b, "Resize", {"x", "", "", "sizes"});
      SetInts(node, "axes", {2, 3});
      SetText(node, "keep_aspect_ratio_policy", policy);
    };
  };
  std::vector<NewerOp> ops;
  for (const std::string op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                               "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    ops.push_back({op, 18, {2, 3, 4, 5}, reduce(op), {2, 4}});
  }
  for (const std::string op : {"Mish", "Gelu", "HardSwish"})
    ops.push_back({op, 22, {2, 3}, [op](MessageBuilder& b) { Plain(b, op, {"x"}); }, {2, 3}});
  const std::vector<NewerOp> others = {
      {"Split",
       18,
       {7, 2},
       [](MessageBuilder& b) {
         SetInt(b.Op("Split", {"x"}, {"a", "b", "y"}), "num_outputs", 3);
       },
       {1, 2}},
      {"SplitIntoTooMany",
       18,
       {7, 2},
       [](MessageBuilder& b) {
         SetInt(b.Op("Split", {"x"}, {"a", "y"}), "num_outputs", 3);
       },
       {},
       "num_outputs is 3 and it has 2 outputs"},
      {"PadOnAxes",
       19,
       {2, 3, 4},
       [](MessageBuilder& b) {
         b.Int64s("pads", {1, 2});
         b.Int64s("axes", {-1});
         SetText(Plain(b, "Pad", {"x", "pads", "", "axes"}), "mode", "wrap");
       },
       {2, 3, 7}},
      {"PadOnTooManyAxes",
       19,
       {2, 3, 4},
       [](MessageBuilder& b) {
         b.Int64s("pads", {1, 2});
         b.Int64s("axes", {0, 1});
         Plain(b, "Pad", {"x", "pads", "", "axes"});
       },
       {},
       "it has 1 numbers for 2 axes"},
      {"ResizeStretching", 18, {1, 2, 4, 8}, resize("stretch"), {1, 2, 7, 8}},
      {"ResizeNotLarger", 18, {1, 2, 4, 8}, resize("not_larger"), {1, 2, 4, 8}},
      {"ResizeNotSmaller", 18, {1, 2, 4, 8}, resize("not_smaller"), {1, 2, 7, 14}},
      {"ResizeByScales",
       19,
       {1, 2, 4, 8},
       [](MessageBuilder& b) {
         Scales(b, "scales", {1, 1, 2.5f, 0.5f});
         Plain(b, "Resize", {"x", "", "scales"});
       },
       {1, 2, 10, 4}},
      {"CenterCropPad",
       18,
       {20, 10, 3},
       [](MessageBuilder& b) {
         b.Int64s("shape", {10, 7});
         SetInts(Plain(b, "CenterCropPad", {"x", "shape"}), "axes", {0, 1});
       },
       {10, 7, 3}},
      {"Col2Im",
       18,
       {1, 10, 12},
       [](MessageBuilder& b) {
         b.Int64s("image", {5, 5});
         b.Int64s("block", {1, 5});
         Plain(b, "Col2Im", {"x", "image", "block"});
       },
       {1, 2, 5, 5}},
      {"AveragePoolWithDilations",
       19,
       {1, 1, 8, 8},
       [](MessageBuilder& b) {
         onnx::NodeProto* node = Plain(b, "AveragePool", {"x"});
         SetInts(node, "kernel_shape", {2, 2});
         SetInts(node, "dilations", {3, 3});
         SetInt(node, "count_include_pad", 1);
       },
       {1, 1, 5, 5}},
      {"PoolThatRoundsUp",
       13,
       {1, 1, 6, 2},
       [](MessageBuilder& b) {
         onnx::NodeProto* node = Plain(b, "MaxPool", {"x"});
         SetInts(node, "kernel_shape", {3, 1});
         SetInts(node, "strides", {2, 2});
         SetInt(node, "ceil_mode", 1);
       },
       {1, 1, 3, 1}},
      {"DeformConv",
       19,
       {1, 1, 5, 5},
       [](MessageBuilder& b) {
         b.Floats("w", {2, 1, 3, 3});
         b.Floats("offset", {1, 18, 3, 3});
         SetInt(Plain(b, "DeformConv", {"x", "w", "offset"}), "offset_group", 1);
       },
       {1, 2, 3, 3}},
      {"GridSample",
       20,
       {1, 2, 4, 4},
       [](MessageBuilder& b) {
         b.Floats("grid", {1, 6, 7, 2});
         SetText(Plain(b, "GridSample", {"x", "grid"}), "mode", "cubic");
       },
       {1, 2, 6, 7}},
      {"GroupNormalization",
       21,
       {1, 4, 5},
       [](MessageBuilder& b) {
         b.Floats("s", {4});
         SetInt(Plain(b, "GroupNormalization", {"x", "s", "s"}), "num_groups", 2);
       },
       {1, 4, 5}},
      {"Einsum",
       18,
       {2, 3, 4, 5},
       [](MessageBuilder& b) {
         b.Floats("k", {5, 4});
         SetText(Plain(b, "Einsum", {"x", "k"}), "equation", "...ij,jk->...ik");
       },
       {2, 3, 4, 4}},
      {"AnotherCast",
       19,
       {2, 2},
       [](MessageBuilder& b) {
         onnx::NodeProto* node = b.Op("Cast", {"x"}, {"whole"});
         SetInt(node, "to", onnx::TensorProto::INT64);
         SetInt(node, "saturate", 1);
         SetInt(Plain(b, "Cast", {"whole"}), "to", onnx::TensorProto::FLOAT);
       },
       {2, 2}},
      {"CastToFloat8",
       19,
       {2, 2},
       [](MessageBuilder& b) {
         constexpr int kFloat8 = 17;
         SetInt(b.Op("Cast", {"x"}, {"small"}), "to", kFloat8);
         SetInt(Plain(b, "Cast", {"small"}), "to", onnx::TensorProto::FLOAT);
       },
       {},
       "attribute 'to' names an element type Millrace does not know, float8e4m3fn"},
      {"QuantizeToInt4",
       21,
       {2, 2},
       [](MessageBuilder& b) {
         constexpr int kInt4 = 22;
         Scales(b, "scale", {1})->clear_dims();
         SetInt(b.Op("QuantizeLinear", {"x", "scale"}, {"small"}), "output_dtype", kInt4);
         Plain(b, "DequantizeLinear", {"small", "scale"});
       },
       {},
       "attribute 'output_dtype' names an element type Millrace does not know, int4"},
  };
  ops.insert(ops.end(), others.begin(), others.end());
  return ops;
}

class NewerOpset : public ::testing::TestWithParam<NewerOp> {};

TEST_P(NewerOpset, IsReadWithItsShapesAndWrittenAsItWas) {
  const NewerOp& op = GetParam();
  MessageBuilder builder;
  builder.message.set_ir_version(10);
  builder.message.mutable_opset_import(0)->set_version(op.opset);
  builder.Input("x", op.input);
  op.add(builder);
  builder.Output("y");
  if (!op.complaint.empty()) {
    EXPECT_THAT(Complaint(builder.message), HasSubstr(op.complaint));
    return;
  }
  const Model model = Import(builder.message);
  EXPECT_EQ(model.opset, op.opset);
  EXPECT_EQ(ValueNamed(model, "y").shape, op.output);
  const Model again = Reread(model);
  EXPECT_EQ(again.opset, op.opset);
  EXPECT_EQ(again.nodes.size(), model.nodes.size());
  EXPECT_EQ(again.nodes.back().op_type, model.nodes.back().op_type);
  EXPECT_EQ(ValueNamed(again, "y").shape, op.output);
}

INSTANTIATE_TEST_SUITE_P(Ops, NewerOpset, ::testing::ValuesIn(NewerOps()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(OnnxRead, ReadsEveryOpsetUpToItsLimitWithoutAWord) {
  for (const std::int64_t opset : {18, 19, 20, 21, 22}) {
    MessageBuilder builder = SmallNetwork();
    builder.message.set_ir_version(10);
    builder.message.mutable_opset_import(0)->set_version(opset);
    auto* stated = builder.message.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
    for (const std::int64_t extent : {1, 10}) stated->mutable_shape()->add_dim()->set_dim_value(extent);
    std::vector<std::string> warnings;
    const Model model = Import(builder.message, {}, &warnings);
    EXPECT_EQ(model.opset, opset);
    EXPECT_EQ(ValueNamed(model, "y").shape, (Shape{1, 10}));
    EXPECT_THAT(warnings, ::testing::IsEmpty());
  }
}

TEST(OnnxRead, NamesTheNewestOpsetWhereAModelHasANewerOne) {
  MessageBuilder builder = SmallNetwork();
  builder.message.mutable_opset_import(0)->set_version(23);
  EXPECT_THAT(Complaint(builder.message),
              ::testing::StartsWith("opset 23 is newer than Millrace reads (1 .. 22); export the model with opset 22"));
}

// A Pad over all axes is the one of opset 17.
TEST(OnnxNewer, LeavesToLibonnxWhatAnOlderFormDoesAsItIs) {
  Node pad;
  pad.op_type = "Pad";
  pad.inputs = {0, 1, 2};
  EXPECT_FALSE(IsUnseen(pad, 18));
  pad.inputs.push_back(3);
  EXPECT_TRUE(IsUnseen(pad, 18));
  EXPECT_FALSE(IsUnseen(pad, 17));
}

// What exporters of opset 18 write for a normalisation over the axis before last, its number computed.
TEST(OnnxRead, TakesAxesThatAreComputedFromConstants) {
  MessageBuilder builder;
  builder.message.set_ir_version(8);
  builder.message.mutable_opset_import(0)->set_version(18);
  builder.Input("x", {2, 3, 4});
  builder.Int64s("two", {2});
  builder.Op("Neg", {"two"}, {"axes"});
  builder.Op("ReduceMean", {"x", "axes"}, {"y"});
  builder.Output("y");
  EXPECT_EQ(ValueNamed(Import(builder.message), "y").shape, (Shape{2, 1, 4}));
}

TEST(OnnxRead, WidensHalvesToFloat32AndSaysSo) {
  for (const std::int32_t half : {onnx::TensorProto::FLOAT16, onnx::TensorProto::BFLOAT16}) {
    MessageBuilder builder;
    builder.Input("x", {1, 3})->mutable_type()->mutable_tensor_type()->set_elem_type(half);
    onnx::TensorProto* weights = builder.message.mutable_graph()->add_initializer();
    weights->set_name("w");
    weights->set_data_type(half);
    weights->add_dims(3);
    // 1, -2.5 and the smallest number of each kind.
    const bool ieee = half == onnx::TensorProto::FLOAT16;
    for (const int bits : {ieee ? 0x3c00 : 0x3f80, ieee ? 0xc100 : 0xc020, 1}) weights->add_int32_data(bits);
    builder.Op("Mul", {"x", "w"}, {"m"});
    SetInt(builder.Op("Cast", {"m"}, {"wide"}), "to", onnx::TensorProto::FLOAT);
    SetInt(builder.Op("Cast", {"wide"}, {"y"}), "to", half);
    builder.Output("y")->mutable_type()->mutable_tensor_type()->set_elem_type(half);
    std::vector<std::string> warnings;
    const Model model = Import(builder.message, {}, &warnings);
    for (const Value& value : model.values) EXPECT_EQ(value.type, DataType::kFloat32) << value.name;
    const float smallest = ieee ? 5.9604644775390625e-8f : 9.183549615799121e-41f;
    EXPECT_EQ(ValueNamed(model, "w").constant->AsFloats(), (std::vector<float>{1, -2.5f, smallest}));
    EXPECT_THAT(warnings, ::testing::Contains(HasSubstr("are read as float32")));
  }
}

}  // namespace
}  // namespace millrace::testing
