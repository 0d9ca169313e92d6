// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/runtime/reference_kernels.h"

namespace millrace {
namespace {

using testing::ExpectGroupMatches;
using testing::ModelMaker;
using testing::RandomTensor;
using testing::TensorData;

constexpr std::int64_t kChannelCounts[] = {3, 16, 20, 100};

TEST(BatchNormalizationKernel, TakesConstantStatistics) {
  for (const std::int64_t channels : kChannelCounts) {
    for (const Shape& shape :
         {Shape{1, channels, 5, 6}, Shape{2, channels, 5, 6}, Shape{4, channels}, Shape{2, channels, 9}}) {
      Random random(41);
      ModelMaker maker;
      std::vector<int> inputs = {maker.Input(shape)};
      for (int i = 0; i < 4; ++i) inputs.push_back(maker.Constant(RandomTensor(random, {channels}, 0.5, 2)));
      maker.Node("BatchNormalization", inputs, shape, {{"epsilon", 1e-3f}});
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

TEST(BatchNormalizationKernel, TakesStatisticsComputedByTheModel) {
  for (const std::int64_t channels : kChannelCounts) {
    Random random(42);
    ModelMaker maker;
    const Shape shape = {1, channels, 5, 6};
    // The Sigmoid keeps the variance positive.
    const int variance = maker.Node("Sigmoid", {maker.Input({channels})}, {channels});
    maker.Node(
        "BatchNormalization",
        {maker.Input(shape), maker.Input({channels}), maker.Input({channels}), maker.Input({channels}), variance},
        shape);
    maker.Output(variance);
    ExpectGroupMatches(maker.model(), random);
  }
}

TEST(ChannelArithmetic, ChainsInEitherLayout) {
  for (const std::int64_t channels : kChannelCounts) {
    for (const char* activation : {"Relu", "Sigmoid", "HardSwish"}) {
      Random random(43);
      ModelMaker maker;
      const Shape shape = {2, channels, 5, 6};
      std::vector<int> inputs = {maker.Input(shape)};
      for (int i = 0; i < 4; ++i) inputs.push_back(maker.Constant(RandomTensor(random, {channels}, 0.5, 2)));
      int value = maker.Node("BatchNormalization", inputs, shape);
      value = maker.Node("Mul", {value, maker.Constant(RandomTensor(random, {channels, 1, 1}))}, shape);
      value = maker.Node("Add", {maker.Constant(RandomTensor(random, {1, channels, 1, 1})), value}, shape);
      maker.Node(activation, {value}, shape);
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

TEST(ChannelArithmetic, WorksNodeByNode) {
  for (const char* type : {"Add", "Sub", "Mul", "Div"}) {
    for (const bool constant_first : {false, true}) {
      Random random(44);
      ModelMaker maker;
      const int constant = maker.Constant(RandomTensor(random, {20, 1, 1}, 0.5, 2));
      const int value = maker.Input({1, 20, 4, 5});
      if (constant_first && std::string(type) == "Div") continue;
      maker.Node(type, constant_first ? std::vector{constant, value} : std::vector{value, constant}, {1, 20, 4, 5});
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

TEST(LayerNormalizationKernel, MatchesTheSlowOne) {
  for (const std::int64_t axis : {-1, 1, 2}) {
    for (const bool constants : {false, true}) {
      Random random(45);
      ModelMaker maker(17);
      const Shape shape = {3, 7, 50};
      const Shape tail(shape.begin() + (axis < 0 ? axis + 3 : axis), shape.end());
      const int source = maker.Input(shape);
      const int scale = constants ? maker.Constant(RandomTensor(random, tail)) : maker.Input(tail);
      const int bias = constants ? maker.Constant(RandomTensor(random, tail)) : maker.Input(tail);
      maker.Node("LayerNormalization", {source, scale, bias}, shape, {{"axis", axis}});
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

TEST(InstanceNormalizationKernel, MatchesTheSlowOne) {
  Random random(46);
  ModelMaker maker;
  const Shape shape = {2, 20, 6, 7};
  maker.Node("InstanceNormalization",
             {maker.Input(shape), maker.Constant(RandomTensor(random, {20})), maker.Input({20})}, shape);
  ExpectGroupMatches(maker.model(), random);
}

TEST(LocalResponseNormalizationKernel, MatchesTheSlowOne) {
  for (const std::int64_t channels : {5, 16, 20, 64}) {
    for (const std::int64_t size : {1, 3, 5, 7}) {
      for (const Shape& shape : {Shape{1, channels, 6, 7}, Shape{3, channels, 6, 7}, Shape{2, channels, 9}}) {
        Random random(47);
        ModelMaker maker;
        maker.Node("LRN", {maker.Input(shape)}, shape,
                   {{"size", size}, {"alpha", 0.3f}, {"beta", 0.75f}, {"bias", 2.0f}});
        ExpectGroupMatches(maker.model(), random);
      }
    }
  }
}

TEST(SoftmaxKernel, WorksAlongEveryAxisBeforeAndSinceOpsetThirteen) {
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    for (const std::int64_t opset : {11, 13}) {
      for (const std::int64_t axis : {-1, 0, 1, 2, 3}) {
        Random random(48);
        ModelMaker maker(opset);
        const Shape shape = {2, 17, 3, 5};
        maker.Node(type, {maker.Input(shape)}, shape, {{"axis", axis}});
        ExpectGroupMatches(maker.model(), random);
      }
    }
  }
}

TEST(ConcatKernel, JoinsAlongEveryAxisInEitherLayout) {
  for (std::size_t axis = 0; axis < 4; ++axis) {
    for (const std::int64_t channels : {16, 20, 48}) {
      Random random(49);
      ModelMaker maker;
      Shape shape = {2, channels, 4, 5};
      Shape output = shape;
      std::vector<int> inputs;
      output[axis] = 0;
      for (int i = 0; i < 3; ++i) {
        Shape one = shape;
        one[axis] += axis == 1 ? 16 * i : i;
        output[axis] += one[axis];
        inputs.push_back(maker.Input(one));
      }
      inputs.push_back(inputs.front());
      output[axis] += shape[axis];
      maker.Node("Concat", inputs, output, {{"axis", static_cast<std::int64_t>(axis)}});
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

// Long enough for several workers, whose shares begin within rows.
TEST(ConcatKernel, SharesOutLongRowsOfOtherTypes) {
  constexpr std::int64_t kRows = 3, kWide = 2777, kNarrow = 1500;
  std::vector<std::int64_t> narrow, wide, expected;
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t i = 0; i < kNarrow; ++i) narrow.push_back(row * kNarrow + i);
    for (std::int64_t i = 0; i < kWide; ++i) wide.push_back(-row * kWide - i);
    expected.insert(expected.end(), narrow.end() - kNarrow, narrow.end());
    expected.insert(expected.end(), wide.end() - kWide, wide.end());
  }
  ModelMaker maker;
  const int first = maker.Input({kRows, kNarrow}, DataType::kInt64);
  const int second = maker.Input({kRows, kWide}, DataType::kInt64);
  const int result =
      maker.Node("Concat", {first, second}, {kRows, kNarrow + kWide}, {{"axis", std::int64_t{1}}}, DataType::kInt64);
  for (int workers = 1; workers <= 3; ++workers) {
    const auto outputs = testing::RunGroup(
        maker.model(), {0},
        {{first, ConstantData::Int64s({kRows, kNarrow}, narrow)}, {second, ConstantData::Int64s({kRows, kWide}, wide)}},
        {workers});
    EXPECT_EQ(outputs.at(result)->AsInt64s(), expected) << workers << " workers";
  }
}

TEST(ConcatKernel, TakesConstantsOtherTypesAndNegativeAxes) {
  ModelMaker maker;
  const int constant = maker.Constant(ConstantData::Int64s({1}, {-1}));
  const int computed = maker.Input({2}, DataType::kInt64);
  const int result =
      maker.Node("Concat", {constant, computed, constant}, {4}, {{"axis", std::int64_t{-1}}}, DataType::kInt64);
  const auto outputs = testing::RunGroup(maker.model(), {0}, {{computed, ConstantData::Int64s({2}, {5, 6})}}, {2});
  EXPECT_EQ(outputs.at(result)->AsInt64s(), (std::vector<std::int64_t>{-1, 5, 6, -1}));
}

TEST(SameShapeArithmetic, MatchesTheSlowOne) {
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Sum"}) {
    for (const Shape& shape : {Shape{2, 20, 5, 5}, Shape{1, 64, 3, 3}, Shape{7}, Shape{}}) {
      Random random(50);
      ModelMaker maker;
      const int divisor = maker.Node("Sigmoid", {maker.Input(shape)}, shape);
      maker.Output(divisor);
      maker.Node(type, {maker.Input(shape), divisor}, shape);
      ExpectGroupMatches(maker.model(), random);
    }
  }
  Random random(51);
  ModelMaker maker;
  const int first = maker.Input({1, 20, 5, 5});
  maker.Node("Sum", {first, maker.Input({1, 20, 5, 5}), first, maker.Input({1, 20, 5, 5})}, {1, 20, 5, 5});
  maker.Node("Sum", {first}, {1, 20, 5, 5});
  ExpectGroupMatches(maker.model(), random);
}

TEST(ActivationKernel, MatchesTheSlowOneInEitherLayout) {
  for (const char* type :
       {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "HardSwish", "HardSigmoid", "Selu", "Softplus"}) {
    for (const Shape& shape : {Shape{2, 20, 5, 5}, Shape{1, 64, 3, 3}, Shape{1, 3, 7, 9}, Shape{5, 31}, Shape{}}) {
      SCOPED_TRACE(type);
      Random random(52);
      ModelMaker maker;
      maker.Node(type, {maker.Input(shape)}, shape);
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

TEST(ActivationKernel, ReadsTheBoundsOfClipBeforeAndSinceOpsetEleven) {
  Random random(53);
  ModelMaker old(6);
  old.Node("Clip", {old.Input({1, 20, 5, 5})}, {1, 20, 5, 5}, {{"min", 0.1f}, {"max", 0.5f}});
  ExpectGroupMatches(old.model(), random);
  ModelMaker young(13);
  young.Node("Clip",
             {young.Input({1, 20, 5, 5}), young.Constant(ConstantData::Floats({}, {0.2f})),
              young.Constant(ConstantData::Floats({}, {0.3f}))},
             {1, 20, 5, 5});
  ExpectGroupMatches(young.model(), random);
}

}  // namespace
}  // namespace millrace
