// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/formats/onnx_sample.h"

// Which patterns of QuantizeLinear and DequantizeLinear become operators on 8-bit integers, and with which numbers.
namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::Import;
using testing::MessageBuilder;
using testing::OpTypes;
using testing::SetInt;
using testing::SetInts;
using testing::ValueNamed;

using Strings = std::vector<std::string>;
constexpr int kFloat = onnx::TensorProto::FLOAT, kInt8 = onnx::TensorProto::INT8, kInt32 = onnx::TensorProto::INT32;

void Numbers(MessageBuilder& builder, const std::string& name, int type, const Shape& shape,
             const std::vector<double>& numbers) {
  onnx::TensorProto* tensor = builder.message.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const std::int64_t extent : shape) tensor->add_dims(extent);
  for (const double number : numbers) {
    if (type == kFloat) {
      tensor->add_float_data(static_cast<float>(number));
    } else {
      tensor->add_int32_data(static_cast<std::int32_t>(number));
    }
  }
}

void SetFloat(onnx::NodeProto* node, const std::string& name, float value) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_f(value);
}

// x (2 x 2), stored by scale 0.5, times weights (2 x 3) of scale 0.25, stored by scale 1 and zero point -128 once what
// lies `between` is done: parts of it can be made otherwise before `Message` puts them together.
struct Product {
  std::string op = "MatMul";
  std::vector<double> x_scale = {0.5}, weights_scale = {0.25}, weights_zero = {0}, y_scale = {1}, y_zero = {-128};
  std::vector<double> weights = {1, 2, 3, -4, 5, 6};
  std::int64_t weights_axis = 1;
  int weights_type = kInt8;
  Strings addend;                                                        // input of the operator
  std::function<void(MessageBuilder&, std::string&)> between = nullptr;  // replaces the name of what is stored
  std::function<void(MessageBuilder&)> more = nullptr;
  std::function<void(onnx::NodeProto*)> attributes = nullptr;

  onnx::ModelProto Message() const {
    MessageBuilder builder;
    builder.message.set_ir_version(8);
    builder.message.mutable_opset_import(0)->set_version(17);
    const auto by = [&builder](const std::string& name, const std::vector<double>& numbers, int type) {
      Numbers(builder, name, type, numbers.size() == 1 ? Shape{} : Shape{static_cast<std::int64_t>(numbers.size())},
              numbers);
    };
    builder.Input("x", {2, 2});
    by("xs", x_scale, kFloat);
    by("xz", std::vector<double>(x_scale.size(), 0), kInt8);
    by("ws", weights_scale, kFloat);
    by("wz", weights_zero, weights_type);
    by("ys", y_scale, kFloat);
    by("yz", y_zero, kInt8);
    Numbers(builder, "w", weights_type, {2, 3}, weights);
    builder.Op("QuantizeLinear", {"x", "xs", "xz"}, {"xq"});
    builder.Op("DequantizeLinear", {"xq", "xs", "xz"}, {"xd"});
    SetInt(builder.Op("DequantizeLinear", {"w", "ws", "wz"}, {"wd"}), "axis", weights_axis);
    if (more) more(builder);
    Strings inputs = {"xd", "wd"};
    inputs.insert(inputs.end(), addend.begin(), addend.end());
    onnx::NodeProto* node = builder.Op(op, inputs, {"p"});
    if (attributes) attributes(node);
    std::string stored = "p";
    if (between) between(builder, stored);
    builder.Op("QuantizeLinear", {stored, "ys", "yz"}, {"yq"});
    builder.Op("DequantizeLinear", {"yq", "ys", "yz"}, {"y"});
    builder.Output("y");
    return builder.message;
  }

  Strings Ops() const { return OpTypes(Import(Message())); }
};

const Strings kJoined = {"QuantizeLinear", "QLinearMatMul", "DequantizeLinear"};
const Strings kApart = {"QuantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear", "DequantizeLinear"};

TEST(OnnxQuantized, JoinsAProductOfStoredNumbers) { EXPECT_THAT(Product().Ops(), ElementsAreArray(kJoined)); }

TEST(OnnxQuantized, JoinsWeightsWithAScaleForEachColumn) {
  Product product;
  product.weights_scale = {0.25, 0.5, 2};
  product.weights_zero = {0, 0, 0};
  EXPECT_THAT(product.Ops(), ElementsAreArray(kJoined));
  product.weights_axis = -1;
  EXPECT_THAT(product.Ops(), ElementsAreArray(kJoined));
}

TEST(OnnxQuantized, LeavesApartWhatHasOtherScalesThanOneOrOneForEachColumn) {
  Product by_row;
  by_row.weights_scale = {0.25, 0.5};
  by_row.weights_zero = {0, 0};
  by_row.weights_axis = 0;
  EXPECT_THAT(by_row.Ops(), ElementsAreArray(kApart));
  Product source;
  source.x_scale = {0.5, 1};
  EXPECT_THAT(source.Ops(), ElementsAreArray(kApart));
  Product result;
  result.y_scale = {1, 2, 3};
  result.y_zero = {0, 0, 0};
  EXPECT_THAT(result.Ops(), ElementsAreArray(kApart));
  Product fewer;
  fewer.weights_scale = {0.25, 0.5};
  fewer.weights_zero = {0, 0};
  EXPECT_THAT(fewer.Ops(), ::testing::Contains("MatMul"));
}

TEST(OnnxQuantized, LeavesApartWhatScalesByNumbersThatNoScaleHas) {
  for (const double scale : {0.0, -0.25, static_cast<double>(std::numeric_limits<float>::infinity())}) {
    Product product;
    product.weights_scale = {scale};
    EXPECT_THAT(product.Ops(), ::testing::Contains("MatMul")) << scale;
  }
}

TEST(OnnxQuantized, LeavesApartWhatSomebodyElseReads) {
  Product product;
  product.between = [](MessageBuilder& builder, std::string&) {
    builder.Op("Abs", {"p"}, {"also"});
    builder.Output("also");
  };
  EXPECT_THAT(product.Ops(), ::testing::Contains("MatMul"));
  product.between = [](MessageBuilder& builder, std::string&) { builder.Output("p"); };
  EXPECT_THAT(product.Ops(), ::testing::Contains("MatMul"));
}

// The numbers of y go from `low` up; a Relu is done by that where low is 0.
TEST(OnnxQuantized, TakesARectifierInWhereTheStoredRangeDoesItsWork) {
  Product product;
  product.between = [](MessageBuilder& builder, std::string& stored) {
    builder.Op("Relu", {stored}, {"r"});
    stored = "r";
  };
  EXPECT_THAT(product.Ops(), ElementsAreArray(kJoined));
  product.y_zero = {-127};
  EXPECT_THAT(product.Ops(), ElementsAre("QuantizeLinear", "DequantizeLinear", "MatMul", "Relu", "QuantizeLinear",
                                         "DequantizeLinear"));
}

// 0 .. 255 can be stored: a clip to more than that changes nothing, nor does one half a step short of the end.
TEST(OnnxQuantized, TakesAClipInWhereTheStoredRangeDoesItsWork) {
  const auto clipped = [](std::vector<double> least, std::vector<double> most) {
    Product product;
    product.between = [=](MessageBuilder& builder, std::string& stored) {
      Strings inputs = {stored};
      for (const auto& [name, bound] : {std::pair("least", least), std::pair("most", most)}) {
        if (!bound.empty()) Numbers(builder, name, kFloat, {}, bound);
        inputs.push_back(bound.empty() ? "" : name);
      }
      builder.Op("Clip", inputs, {"c"});
      stored = "c";
    };
    return product.Ops().size() == 3;
  };
  EXPECT_TRUE(clipped({0}, {255}));
  EXPECT_TRUE(clipped({-1}, {1000}));
  EXPECT_TRUE(clipped({0}, {}));
  EXPECT_TRUE(clipped({0}, {254.5}));
  EXPECT_FALSE(clipped({0}, {254.4}));
  EXPECT_FALSE(clipped({0.5}, {255}));
  EXPECT_FALSE(clipped({}, {255}));
}

TEST(OnnxQuantized, JoinsAGemmOnlyWhereItIsAPlainOne) {
  Product product;
  product.op = "Gemm";
  product.addend = {"b"};
  product.more = [](MessageBuilder& builder) { Numbers(builder, "b", kFloat, {3}, {1, -2, 0.13}); };
  EXPECT_THAT(product.Ops(), ElementsAre("QuantizeLinear", "QGemm", "DequantizeLinear"));
  for (const std::string scaled : {"alpha", "beta"}) {
    product.attributes = [&scaled](onnx::NodeProto* node) { SetFloat(node, scaled, 2); };
    EXPECT_THAT(product.Ops(), ::testing::Contains("Gemm")) << scaled;
    product.attributes = [&scaled](onnx::NodeProto* node) { SetFloat(node, scaled, 1); };
    EXPECT_THAT(product.Ops(), ::testing::Contains("QGemm")) << scaled;
  }
  product.attributes = [](onnx::NodeProto* node) { SetInt(node, "transA", 1); };
  EXPECT_THAT(product.Ops(), ::testing::Contains("Gemm"));
}

TEST(OnnxQuantized, MakesNumbersOfAGemmWhoseResultNobodyStores) {
  Product product;
  product.op = "Gemm";
  product.between = [](MessageBuilder& builder, std::string& stored) {
    builder.Op("Neg", {stored}, {"n"});
    stored = "n";
  };
  const Model model = Import(product.Message());
  EXPECT_THAT(OpTypes(model), ElementsAre("QuantizeLinear", "QGemm", "Neg", "QuantizeLinear", "DequantizeLinear"));
  EXPECT_EQ(model.nodes[1].inputs.size(), 6u) << "no addend and no scale of a result";
  EXPECT_EQ(model.values[static_cast<std::size_t>(model.nodes[1].outputs[0])].type, DataType::kFloat32);
  product.op = "MatMul";
  EXPECT_THAT(product.Ops(), ::testing::Contains("MatMul")) << "no such operator makes numbers";
}

// One unit of a sum is 0.5 * 0.25; with a scale for each column it is another one for each.
TEST(OnnxQuantized, SaysAddendsInTheUnitsOfTheSums) {
  Product product;
  product.op = "Gemm";
  product.addend = {"b"};
  product.more = [](MessageBuilder& builder) { Numbers(builder, "b", kFloat, {3}, {1, -2, 0.13}); };
  EXPECT_THAT(ValueNamed(Import(product.Message()), "b_in_sums").constant->AsInt64s(), ElementsAre(8, -16, 1));
  product.weights_scale = {0.25, 0.5, 2};
  product.weights_zero = {0, 0, 0};
  EXPECT_THAT(ValueNamed(Import(product.Message()), "b_in_sums").constant->AsInt64s(), ElementsAre(8, -8, 0));
  product.addend = {"bd"};
  product.more = [](MessageBuilder& builder) {
    Numbers(builder, "b", kInt32, {3}, {10, 20, -30});
    Numbers(builder, "bs", kFloat, {}, {0.25});
    builder.Op("DequantizeLinear", {"b", "bs"}, {"bd"});
  };
  EXPECT_THAT(ValueNamed(Import(product.Message()), "bd_in_sums").constant->AsInt64s(), ElementsAre(20, 20, -8));
}

TEST(OnnxQuantized, LeavesApartAddendsThatAreNotOneForEachColumnOrAreTooLarge) {
  Product product;
  product.op = "Gemm";
  product.addend = {"b"};
  product.more = [](MessageBuilder& builder) { Numbers(builder, "b", kFloat, {1}, {1}); };
  EXPECT_THAT(product.Ops(), ::testing::Contains("Gemm"));
  product.more = [](MessageBuilder& builder) { Numbers(builder, "b", kFloat, {3}, {1, 1, 3e8}); };
  EXPECT_THAT(product.Ops(), ::testing::Contains("Gemm"));
  product.more = [](MessageBuilder& builder) { Numbers(builder, "b", kFloat, {3}, {1, 1, -2.6e8}); };
  EXPECT_THAT(product.Ops(), ::testing::Contains("QGemm"));
}

// Of what stays with an operator on float32: (stored - zero point) * scale, one of each for a column.
TEST(OnnxQuantized, WidensWeightsThatStayApart) {
  Product product;
  product.weights_scale = {0.25, 0.5, 2};
  product.weights_zero = {1, 0, -1};
  product.between = [](MessageBuilder& builder, std::string& stored) {
    builder.Op("Abs", {stored}, {"a"});
    stored = "a";
  };
  const Model model = Import(product.Message());
  const Value& weights = ValueNamed(model, "wd");
  ASSERT_NE(weights.constant, nullptr);
  EXPECT_THAT(weights.constant->AsFloats(), ElementsAre(0, 1, 8, -1.25f, 2.5f, 14));
}

TEST(OnnxQuantized, WidensNumbersOf32Bits) {
  MessageBuilder builder;
  builder.message.set_ir_version(8);
  builder.message.mutable_opset_import(0)->set_version(17);
  builder.Input("x", {2, 3});
  Numbers(builder, "b", kInt32, {3}, {10, 20, -30000});
  Numbers(builder, "s", kFloat, {}, {0.25});
  builder.Op("DequantizeLinear", {"b", "s"}, {"bd"});
  builder.Op("Add", {"x", "bd"}, {"y"});
  builder.Output("y");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("Add"));
  EXPECT_THAT(ValueNamed(model, "bd").constant->AsFloats(), ElementsAre(2.5f, 5, -7500));
}

// As QuantizeLinear does: to even where a number lies between two, and no further than the type goes.
TEST(OnnxQuantized, StoresWeightsThatAreQuantisedOnTheWay) {
  MessageBuilder builder;
  builder.message.set_ir_version(8);
  builder.message.mutable_opset_import(0)->set_version(17);
  builder.Input("x", {2, 2});
  Numbers(builder, "s", kFloat, {}, {0.5});
  Numbers(builder, "z", kInt8, {}, {1});
  Numbers(builder, "f", kFloat, {2, 3}, {0.25, 0.75, -0.25, 100, -100, 63});
  builder.Op("QuantizeLinear", {"f", "s", "z"}, {"w"});
  builder.Op("DequantizeLinear", {"w", "s", "z"}, {"wd"});
  builder.Op("MatMul", {"x", "wd"}, {"y"});
  builder.Output("y");
  const Model model = Import(builder.message);
  EXPECT_THAT(OpTypes(model), ElementsAre("MatMul"));
  EXPECT_THAT(ValueNamed(model, "wd").constant->AsFloats(), ElementsAre(0, 1, 0, 63, -64.5f, 63));
}

// x, stored by scale 0.5 and zero point 3, is "d"; what `put` makes of that, by name, is stored by these numbers.
Model StoredBehind(const std::function<std::string(MessageBuilder&)>& put, double scale, double zero) {
  MessageBuilder builder;
  builder.message.set_ir_version(8);
  builder.message.mutable_opset_import(0)->set_version(17);
  builder.Input("x", {1, 1, 4, 4});
  Numbers(builder, "s", kFloat, {}, {0.5});
  Numbers(builder, "z", kInt8, {}, {3});
  Numbers(builder, "s2", kFloat, {}, {scale});
  Numbers(builder, "z2", kInt8, {}, {zero});
  builder.Op("QuantizeLinear", {"x", "s", "z"}, {"q"});
  builder.Op("DequantizeLinear", {"q", "s", "z"}, {"d"});
  const std::string made = put(builder);
  builder.Op("QuantizeLinear", {made, "s2", "z2"}, {"mq"});
  builder.Op("DequantizeLinear", {"mq", "s2", "z2"}, {"y"});
  builder.Output("y");
  return Import(builder.message);
}

// Reshapes and the larger of two do the same to stored numbers, if these mean the same before and behind.
TEST(OnnxQuantized, MovesStoredNumbersWhereTheyMeanTheSame) {
  const auto ops = [](const std::string& op, double scale_behind, double zero_behind) {
    const auto put = [&op](MessageBuilder& builder) {
      if (op == "MaxPool") {
        SetInts(builder.Op(op, {"d"}, {"m"}), "kernel_shape", {2, 2});
      } else if (op == "Concat") {
        SetInt(builder.Op(op, {"d", "d"}, {"m"}), "axis", 1);
      } else {
        builder.Op(op, {"d"}, {"m"});
      }
      return "m";
    };
    return OpTypes(StoredBehind(put, scale_behind, zero_behind));
  };
  for (const std::string op : {"MaxPool", "Concat", "Flatten", "Transpose"}) {
    EXPECT_THAT(ops(op, 0.5, 3), ElementsAre("QuantizeLinear", op, "DequantizeLinear"));
    for (const auto& [scale, zero] : {std::pair(0.25, 3.0), std::pair(0.5, 2.0)}) {
      EXPECT_THAT(ops(op, scale, zero),
                  ElementsAre("QuantizeLinear", "DequantizeLinear", op, "QuantizeLinear", "DequantizeLinear"));
    }
  }
  EXPECT_THAT(ops("Relu", 0.5, 3), ::testing::Contains("DequantizeLinear").Times(2)) << "it picks nothing";
}

// A Concat, a MaxPool and a Flatten; `read` is read by somebody else, too.
Strings RowOfMoves(double last_scale, const std::string& read) {
  const auto put = [&read](MessageBuilder& builder) {
    SetInt(builder.Op("Concat", {"d", "d"}, {"c"}), "axis", 1);
    SetInts(builder.Op("MaxPool", {"c"}, {"m"}), "kernel_shape", {2, 2});
    builder.Op("Flatten", {"m"}, {"f"});
    if (!read.empty()) {
      builder.Op("Neg", {read}, {"n"});
      builder.Output("n");
    }
    return "f";
  };
  return OpTypes(StoredBehind(put, last_scale, 3));
}

TEST(OnnxQuantized, MovesStoredNumbersThroughSeveralOpsInARow) {
  EXPECT_THAT(RowOfMoves(0.5, ""), ElementsAre("QuantizeLinear", "Concat", "MaxPool", "Flatten", "DequantizeLinear"));
  EXPECT_THAT(RowOfMoves(0.5, "d"), ::testing::Contains("DequantizeLinear").Times(2)) << "and the row all the same";
  EXPECT_THAT(RowOfMoves(0.5, "d"), ::testing::Contains("QuantizeLinear").Times(1));
  for (const Strings& apart : {RowOfMoves(0.25, ""), RowOfMoves(0.5, "c"), RowOfMoves(0.5, "m"), RowOfMoves(0.5, "f")})
    EXPECT_THAT(apart, ::testing::Contains("QuantizeLinear").Times(2));
}

TEST(OnnxQuantized, AveragesStoredNumbers) {
  const auto ops = [](const std::string& op, std::int64_t ceil_mode) {
    const auto put = [&](MessageBuilder& builder) {
      onnx::NodeProto* pool = builder.Op(op, {"d"}, {"m"});
      if (op == "AveragePool") SetInts(pool, "kernel_shape", {2, 2});
      if (ceil_mode != 0) SetInt(pool, "ceil_mode", ceil_mode);
      return "m";
    };
    const Model model = StoredBehind(put, 0.25, 0);
    for (const Node& node : model.nodes) EXPECT_EQ(node.domain.empty(), !node.op_type.starts_with("QLinear"));
    return OpTypes(model);
  };
  for (const std::string op : {"AveragePool", "GlobalAveragePool"})
    EXPECT_THAT(ops(op, 0), ElementsAre("QuantizeLinear", "QLinear" + op, "DequantizeLinear"));
  EXPECT_THAT(ops("AveragePool", 1), ::testing::Contains("AveragePool")) << "windows may reach past the padding";
}

// x and a second tensor of this type, stored by scales 0.5 and 0.25, added, and stored by scale 1 and a zero point.
onnx::ModelProto SumMessage(int type, const Shape& second, double zero, const std::string& between,
                            const std::vector<double>& second_scale = {0.25}) {
  MessageBuilder builder;
  builder.message.set_ir_version(8);
  builder.message.mutable_opset_import(0)->set_version(17);
  builder.Input("x", {2, 2});
  builder.Input("z", second);
  Numbers(builder, "xs", kFloat, {}, {0.5});
  Numbers(builder, "zs", kFloat, second_scale.size() == 1 ? Shape{} : Shape{2}, second_scale);
  Numbers(builder, "zz", type, second_scale.size() == 1 ? Shape{} : Shape{2},
          std::vector<double>(second_scale.size(), 3));
  Numbers(builder, "ys", kFloat, {}, {1});
  Numbers(builder, "yz", kInt8, {}, {zero});
  Numbers(builder, "xz", kInt8, {}, {0});
  builder.Op("QuantizeLinear", {"x", "xs", "xz"}, {"xq"});
  builder.Op("DequantizeLinear", {"xq", "xs", "xz"}, {"xd"});
  builder.Op("QuantizeLinear", {"z", "zs", "zz"}, {"zq"});
  builder.Op("DequantizeLinear", {"zq", "zs", "zz"}, {"zd"});
  builder.Op("Add", {"xd", "zd"}, {"p"});
  if (!between.empty()) builder.Op(between, {"p"}, {"b"});
  builder.Op("QuantizeLinear", {between.empty() ? "p" : "b", "ys", "yz"}, {"yq"});
  builder.Op("DequantizeLinear", {"yq", "ys", "yz"}, {"y"});
  builder.Output("y");
  return builder.message;
}

TEST(OnnxQuantized, AddsStoredNumbers) {
  const Strings joined = {"QuantizeLinear", "QuantizeLinear", "QLinearAdd", "DequantizeLinear"};
  const Model model = Import(SumMessage(kInt8, {2, 2}, 0, ""));
  EXPECT_THAT(OpTypes(model), ElementsAreArray(joined));
  const Node& sum = model.nodes[2];
  EXPECT_EQ(sum.domain, "com.microsoft");
  EXPECT_EQ(model.foreign_opsets.at("com.microsoft"), 1);
  Strings inputs;
  for (const int input : sum.inputs) inputs.push_back(model.values[static_cast<std::size_t>(input)].name);
  EXPECT_THAT(inputs, ElementsAre("xq", "xs", "xz", "zq", "zs", "zz", "ys", "yz"));
  EXPECT_THAT(OpTypes(Import(SumMessage(kInt8, {2, 2}, -128, "Relu"))), ElementsAreArray(joined));
}

TEST(OnnxQuantized, LeavesSumsApartThatAreNotOfOneTypeShapeAndScale) {
  for (const onnx::ModelProto& message :
       {SumMessage(kInt8, {2, 2}, 0, "Relu"), SumMessage(kInt8, {2}, 0, ""), SumMessage(kInt8, {1, 2}, 0, ""),
        SumMessage(onnx::TensorProto::UINT8, {2, 2}, 0, ""), SumMessage(kInt8, {2, 2}, 0, "", {0.25, 0.5})}) {
    EXPECT_THAT(OpTypes(Import(message)), ::testing::Contains("Add"));
  }
}

// Numbers of a channel each would go with another channel behind.
TEST(OnnxQuantized, LeavesOpsThatMoveElementsWhereEachChannelHasItsOwnScale) {
  MessageBuilder builder;
  builder.message.set_ir_version(8);
  builder.message.mutable_opset_import(0)->set_version(17);
  builder.Input("x", {2, 2});
  Numbers(builder, "s", kFloat, {2}, {0.5, 0.25});
  Numbers(builder, "z", kInt8, {2}, {0, 1});
  builder.Op("QuantizeLinear", {"x", "s", "z"}, {"q"});
  builder.Op("DequantizeLinear", {"q", "s", "z"}, {"d"});
  builder.Op("Transpose", {"d"}, {"t"});
  builder.Op("QuantizeLinear", {"t", "s", "z"}, {"tq"});
  builder.Op("DequantizeLinear", {"tq", "s", "z"}, {"y"});
  builder.Output("y");
  EXPECT_THAT(OpTypes(Import(builder.message)),
              ElementsAre("QuantizeLinear", "DequantizeLinear", "Transpose", "QuantizeLinear", "DequantizeLinear"));
}

TEST(OnnxQuantized, LeavesApartWhereAScaleIsComputed) {
  for (const bool picks : {false, true}) {
    Product product;
    product.more = [](MessageBuilder& builder) {
      builder.Input("free", {});
      builder.Op("Abs", {"free"}, {"computed"});
    };
    product.between = [picks](MessageBuilder& builder, std::string& stored) {
      if (picks) builder.Op("Transpose", {stored}, {"t"});
      builder.Op("QuantizeLinear", {picks ? "t" : stored, "computed", "yz"}, {"q"});
      builder.Op("DequantizeLinear", {"q", "computed", "yz"}, {"d"});
      stored = "d";
    };
    EXPECT_THAT(product.Ops(), ::testing::Contains("MatMul")) << picks;
  }
}

}  // namespace
}  // namespace millrace
