// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/byte_tensors.h"

// Kernels on 8-bit integers that pool and join what lies side by side.
namespace millrace {
namespace {

using testing::Bytes;
using testing::EndsOf;
using testing::ExpectExactly;
using testing::ExpectWithinOne;
using ::testing::HasSubstr;
using testing::ModelMaker;
using testing::RandomBytes;
using testing::RunGroup;
using testing::Scalar;
using testing::Stored;
using testing::TensorData;

TEST(BytePooling, TakesTheLargestOfEveryWindowOfAnyKindOfPadding) {
  Random random(10);
  for (int round = 0; round < 160; ++round) {
    const auto some = [&random](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.Below(most)); };
    const DataType type = random.Below(2) == 0 ? DataType::kUint8 : DataType::kInt8;
    const std::int64_t kernel = 1 + some(2), stride = some(2), pad = static_cast<std::int64_t>(random.Below(2));
    const std::int64_t channels = round % 40 == 0 ? 32 * some(2) : round % 40;
    const Shape source = {some(2), channels, 5 + some(9), 5 + some(9)};
    const auto along = [&](std::size_t axis) { return (source[axis] + 2 * pad - kernel) / stride + 1; };
    const Shape result = {source[0], source[1], along(2), along(3)};
    const TensorData x = RandomBytes(random, type, source, EndsOf(type).low, EndsOf(type).high);
    const std::vector<std::int64_t> from = x->AsInt64s();
    std::vector<std::int64_t> expected;
    for (std::int64_t plane = 0; plane < source[0] * source[1]; ++plane)
      for (std::int64_t y = 0; y < result[2]; ++y)
        for (std::int64_t z = 0; z < result[3]; ++z) {
          std::int64_t largest = EndsOf(type).low;
          for (std::int64_t row = std::max<std::int64_t>(0, y * stride - pad);
               row < std::min(source[2], y * stride - pad + kernel); ++row)
            for (std::int64_t column = std::max<std::int64_t>(0, z * stride - pad);
                 column < std::min(source[3], z * stride - pad + kernel); ++column)
              largest =
                  std::max(largest, from[static_cast<std::size_t>((plane * source[2] + row) * source[3] + column)]);
          expected.push_back(largest);
        }
    ModelMaker maker;
    const int in = maker.Input(source, type);
    const int out = maker.Node("MaxPool", {in}, result,
                               {{"kernel_shape", std::vector<std::int64_t>(2, kernel)},
                                {"strides", std::vector<std::int64_t>(2, stride)},
                                {"pads", std::vector<std::int64_t>(4, pad)}},
                               type);
    for (const int workers : {1, 3})
      ExpectExactly(RunGroup(maker.model(), {0}, {{in, x}}, {.workers = workers}).at(out), expected);
  }
}

TEST(ByteAverage, IsWhatItsDefinitionSaysForEveryWindowAndKindOfPadding) {
  Random random(14);
  for (int round = 0; round < 120; ++round) {
    const auto some = [&random](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.Below(most)); };
    const DataType type = random.Below(2) == 0 ? DataType::kUint8 : DataType::kInt8;
    const bool global = random.Below(4) == 0, with_padding = random.Below(2) == 0;
    const Shape source = {some(2), some(round % 10 == 0 ? 600 : 40), 4 + some(9), 4 + some(9)};
    const std::int64_t kernel = 1 + some(3), stride = some(2), pad = static_cast<std::int64_t>(random.Below(2));
    const auto along = [&](std::size_t axis) { return global ? 1 : (source[axis] + 2 * pad - kernel) / stride + 1; };
    const Shape result = {source[0], source[1], along(2), along(3)};
    const int x_zero = EndsOf(type).low + static_cast<int>(random.Below(256));
    const int y_zero = EndsOf(type).low + static_cast<int>(random.Below(256));
    const float x_scale = 0.3f, y_scale = random.Below(2) == 0 ? 0.3f : 0.17f;
    const TensorData x = RandomBytes(random, type, source, EndsOf(type).low, EndsOf(type).high);
    const std::vector<std::int64_t> from = x->AsInt64s();
    std::vector<int> expected;
    for (std::int64_t plane = 0; plane < source[0] * source[1]; ++plane)
      for (std::int64_t y = 0; y < result[2]; ++y)
        for (std::int64_t z = 0; z < result[3]; ++z) {
          const auto range = [&](std::int64_t at, std::size_t axis) {
            if (global) return std::pair<std::int64_t, std::int64_t>(0, source[axis]);
            return std::pair(std::max<std::int64_t>(0, at * stride - pad),
                             std::min(source[axis], at * stride - pad + kernel));
          };
          const auto rows = range(y, 2), columns = range(z, 3);
          std::int64_t sum = 0, positions = 0;
          for (std::int64_t row = rows.first; row < rows.second; ++row)
            for (std::int64_t column = columns.first; column < columns.second; ++column, ++positions)
              sum += from[static_cast<std::size_t>((plane * source[2] + row) * source[3] + column)] - x_zero;
          const std::int64_t divisor = with_padding && !global ? kernel * kernel : positions;
          expected.push_back(Stored(static_cast<double>(sum) / static_cast<double>(divisor) *
                                        static_cast<double>(x_scale) / static_cast<double>(y_scale),
                                    y_zero, type));
        }
    ModelMaker maker;
    const int in = maker.Input(source, type);
    std::map<std::string, Attribute> attributes;
    if (!global) {
      attributes = {{"kernel_shape", std::vector<std::int64_t>(2, kernel)},
                    {"strides", std::vector<std::int64_t>(2, stride)},
                    {"pads", std::vector<std::int64_t>(4, pad)},
                    {"count_include_pad", std::int64_t{with_padding}}};
    }
    const int out = maker.Node(global ? "QLinearGlobalAveragePool" : "QLinearAveragePool",
                               {in, maker.Constant(Scalar(x_scale)), maker.Constant(Bytes(type, {}, {x_zero})),
                                maker.Constant(Scalar(y_scale)), maker.Constant(Bytes(type, {}, {y_zero}))},
                               result, attributes, type);
    Model model = maker.model();
    model.nodes[0].domain = "com.microsoft";
    ASSERT_EQ(UnsupportedReason(model, 0), "");
    ExpectWithinOne(RunGroup(model, {0}, {{in, x}}, {.workers = 1 + static_cast<int>(random.Below(3))}).at(out),
                    expected);
  }
}

TEST(ByteAverage, RefusesWhatItCannotDoByName) {
  ModelMaker maker;
  const int in = maker.Input({1, 2, 4, 4}, DataType::kUint8);
  const int one = maker.Constant(Scalar(1)), two = maker.Constant(ConstantData::Floats({2}, {1, 2}));
  const int zero = maker.Constant(Bytes(DataType::kUint8, {}, {0}));
  const auto refused = [&](int scale, const std::map<std::string, Attribute>& more) {
    std::map<std::string, Attribute> attributes = {{"kernel_shape", std::vector<std::int64_t>(2, 2)}};
    attributes.insert(more.begin(), more.end());
    maker.Node("QLinearAveragePool", {in, scale, zero, one, zero}, {1, 2, 3, 3}, attributes, DataType::kUint8);
    Model model = maker.model();
    model.nodes.back().domain = "com.microsoft";
    return UnsupportedReason(model, static_cast<int>(model.nodes.size()) - 1);
  };
  EXPECT_EQ(refused(one, {}), "");
  EXPECT_THAT(refused(two, {}), HasSubstr("of this form"));
  EXPECT_THAT(refused(one, {{"channels_last", std::int64_t{1}}}), HasSubstr("channels_last"));
  EXPECT_THAT(refused(one, {{"pads", std::vector<std::int64_t>{2, 0, 0, 0}}}), HasSubstr("padding"));
}

TEST(ByteConcatenation, KeepsTheChannelsInnermostAlongAnyAxis) {
  Random random(11);
  for (std::int64_t axis = 0; axis < 4; ++axis) {
    std::vector<Shape> shapes(3, Shape{2, 5, 3, 4});
    for (std::size_t i = 0; i < shapes.size(); ++i)
      shapes[i][static_cast<std::size_t>(axis)] += static_cast<std::int64_t>(i);
    Shape result = shapes[0];
    ModelMaker maker;
    std::vector<int> inputs;
    std::map<int, TensorData> given;
    for (const Shape& shape : shapes) {
      inputs.push_back(maker.Input(shape, DataType::kUint8));
      given.emplace(inputs.back(), RandomBytes(random, DataType::kUint8, shape, 0, 255));
    }
    result[static_cast<std::size_t>(axis)] = 3 * shapes[0][static_cast<std::size_t>(axis)] + 3;
    const int out = maker.Node("Concat", inputs, result, {{"axis", axis}}, DataType::kUint8);
    const std::vector<std::int64_t> expected = RunGroup(maker.model(), {0}, given).at(out)->AsInt64s();
    for (const int workers : {1, 3}) {
      const auto actual = RunGroup(maker.model(), {0}, given, {.workers = workers, .available = Layout::kChannelsLast});
      ExpectExactly(actual.at(out), expected);
    }
  }
}

}  // namespace
}  // namespace millrace
