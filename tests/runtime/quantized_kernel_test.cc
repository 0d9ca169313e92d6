// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "tests/reference/sanitized.h"
#include "tests/runtime/byte_tensors.h"

namespace millrace {
namespace {

using testing::Bytes;
using testing::Ends;
using testing::EndsOf;
using testing::ExpectExactly;
using testing::ExpectWithinOne;
using testing::HarnessOptions;
using ::testing::HasSubstr;
using testing::Int32s;
using testing::ModelMaker;
using testing::RandomBytes;
using testing::RunGroup;
using testing::Scalar;
using testing::Stored;
using testing::TensorData;

TEST(Quantize, RoundsTiesToEvenAndEndsWhereTheTypeEnds) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> numbers = {0, 1, 3, 5, -1, -3, 1000, -1000, nan, 1e30f};
  ModelMaker maker;
  const int in = maker.Input({10});
  const int out =
      maker.Node("QuantizeLinear", {in, maker.Constant(Scalar(2)), maker.Constant(Bytes(DataType::kInt8, {}, {3}))},
                 {10}, {}, DataType::kInt8);
  const auto results = RunGroup(maker.model(), {0}, {{in, ConstantData::Floats({10}, numbers)}});
  ExpectExactly(results.at(out), {3, 3, 5, 5, 3, 1, 127, -128, -128, 127});
}

TEST(Quantize, AndBackIsWithinHalfAStepForEveryChannelAndAnyNumberOfWorkers) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    const DataType type = random.Below(2) == 0 ? DataType::kInt8 : DataType::kUint8;
    const Shape shape = {2, 1 + static_cast<std::int64_t>(random.Below(9)),
                         1 + static_cast<std::int64_t>(random.Below(70))};
    const std::int64_t axis = random.Below(2) == 0 ? 1 : -1;
    const std::int64_t channels = shape[axis == 1 ? 1 : 2];
    std::vector<float> scales;
    std::vector<int> zeros;
    for (std::int64_t c = 0; c < channels; ++c) {
      scales.push_back(static_cast<float>(0.01 + random.Uniform()));
      zeros.push_back(EndsOf(type).low + 128);
    }
    ModelMaker maker;
    const int in = maker.Input(shape);
    const int scale = maker.Constant(ConstantData::Floats({channels}, scales));
    const int zero = maker.Constant(Bytes(type, {channels}, zeros));
    const int stored = maker.Node("QuantizeLinear", {in, scale, zero}, shape, {{"axis", axis}}, type);
    const int out = maker.Node("DequantizeLinear", {stored, scale, zero}, shape, {{"axis", axis}});
    const TensorData numbers = testing::RandomTensor(random, shape, -1, 1);
    const auto results =
        RunGroup(maker.model(), {0, 1}, {{in, numbers}}, {.workers = 1 + static_cast<int>(random.Below(3))});
    const std::vector<float> from = numbers->AsFloats(), back = results.at(out)->AsFloats();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t channel =
          axis == 1 ? i / static_cast<std::size_t>(shape[2]) % scales.size() : i % scales.size();
      ASSERT_LE(std::abs(from[i] - back[i]), std::max(0.5f * scales[channel] + 1e-6f, 1 - 127 * scales[channel]));
    }
  }
}

TEST(Quantize, EachOfTwoChannelsByItsOwnNumbers) {
  ModelMaker maker;
  const int in = maker.Input({2, 2, 2});
  const int stored = maker.Node(
      "QuantizeLinear",
      {in, maker.Constant(ConstantData::Floats({2}, {1, 2})), maker.Constant(Bytes(DataType::kInt8, {2}, {0, 10}))},
      {2, 2, 2}, {{"axis", std::int64_t{1}}}, DataType::kInt8);
  const std::vector<float> numbers = {1, 2, 4, 6, -1, -2, -4, -6};
  for (const int workers : {1, 2}) {
    const auto results =
        RunGroup(maker.model(), {0}, {{in, ConstantData::Floats({2, 2, 2}, numbers)}}, {.workers = workers});
    ExpectExactly(results.at(stored), {1, 2, 12, 13, -1, -2, 8, 7});
  }
}

TEST(QuantizedSum, IsWhatItsDefinitionSaysOnAnyNumberOfWorkers) {
  Random random(12);
  for (int round = 0; round < testing::Rounds(60); ++round) {
    const DataType type = random.Below(2) == 0 ? DataType::kInt8 : DataType::kUint8;
    const Ends ends = EndsOf(type);
    const Shape shape = {
        1 + static_cast<std::int64_t>(random.Below(2)), 1 + static_cast<std::int64_t>(random.Below(40)),
        1 + static_cast<std::int64_t>(random.Below(9)), 1 + static_cast<std::int64_t>(random.Below(9))};
    const auto zero_point = [&] { return ends.low + static_cast<int>(random.Below(256)); };
    const auto scale = [&] { return static_cast<float>(std::exp(4 * random.Uniform() - 4)); };
    const float a_scale = scale(), b_scale = scale(), y_scale = scale();
    const int a_zero = zero_point(), b_zero = zero_point(), y_zero = zero_point();
    ModelMaker maker;
    const int a = maker.Input(shape, type), b = maker.Input(shape, type);
    const int out = maker.Node("QLinearAdd",
                               {a, maker.Constant(Scalar(a_scale)), maker.Constant(Bytes(type, {}, {a_zero})), b,
                                maker.Constant(Scalar(b_scale)), maker.Constant(Bytes(type, {}, {b_zero})),
                                maker.Constant(Scalar(y_scale)), maker.Constant(Bytes(type, {}, {y_zero}))},
                               shape, {}, type);
    Model model = maker.model();
    model.nodes[0].domain = "com.microsoft";
    const TensorData first = RandomBytes(random, type, shape, ends.low, ends.high);
    const TensorData second = RandomBytes(random, type, shape, ends.low, ends.high);
    std::vector<int> expected;
    for (std::size_t i = 0; i < first->AsInt64s().size(); ++i) {
      const double sum = static_cast<double>(first->AsInt64s()[i] - a_zero) * a_scale +
                         static_cast<double>(second->AsInt64s()[i] - b_zero) * b_scale;
      expected.push_back(Stored(sum / y_scale, y_zero, type));
    }
    const HarnessOptions options = {.workers = 1 + static_cast<int>(random.Below(3)),
                                    .available = random.Below(2) == 0 ? Layout::kPlain : Layout::kChannelsLast};
    const auto results = RunGroup(model, {0}, {{a, first}, {b, second}}, options);
    ExpectWithinOne(results.at(out), expected);
  }
}

TEST(QuantizedSum, RefusesOtherTypesAndScalesOfChannels) {
  ModelMaker maker;
  const int a = maker.Input({2, 2}, DataType::kInt8), b = maker.Input({2, 2}, DataType::kUint8);
  const int one = maker.Constant(Scalar(1)), two = maker.Constant(ConstantData::Floats({2}, {1, 2}));
  const int zero = maker.Constant(Bytes(DataType::kInt8, {}, {0}));
  for (const std::vector<int>& inputs : {std::vector<int>{a, one, zero, b, one, zero, one, zero},
                                         {a, two, zero, a, one, zero, one, zero},
                                         {a, one, zero, a, one, zero}}) {
    maker.Node("QLinearAdd", inputs, {2, 2}, {}, DataType::kInt8);
    Model model = maker.model();
    model.nodes.back().domain = "com.microsoft";
    EXPECT_THAT(UnsupportedReason(model, static_cast<int>(model.nodes.size()) - 1),
                HasSubstr("QLinearAdd of this form"));
  }
}

TEST(Quantize, ByItsOwnExtremesTakesZeroIn) {
  for (const int workers : {1, 3}) {
    for (const auto& [numbers, low, high] : std::vector<std::tuple<std::vector<float>, float, float>>{
             {{1, 2, 4}, 0, 4}, {{-3, -1, -2}, -3, 0}, {{-1, 0, 2}, -1, 2}, {{0, 0, 0}, 0, 0}}) {
      ModelMaker maker;
      const int in = maker.Input({3});
      const std::vector<int> out = maker.NodeOf(
          "DynamicQuantizeLinear", {in}, {{DataType::kUint8, {3}}, {DataType::kFloat32, {}}, {DataType::kUint8, {}}});
      const auto results =
          RunGroup(maker.model(), {0}, {{in, ConstantData::Floats({3}, numbers)}}, {.workers = workers});
      const float scale = low == high ? 1 : (high - low) / 255;
      EXPECT_FLOAT_EQ(results.at(out[1])->AsFloats()[0], scale);
      const std::int64_t zero = results.at(out[2])->AsInt64s()[0];
      EXPECT_EQ(zero, static_cast<std::int64_t>(std::nearbyint(-low / scale)));
      const std::vector<std::int64_t> stored = results.at(out[0])->AsInt64s();
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(static_cast<float>(stored[i] - zero) * scale, numbers[i], 0.51f * scale);
    }
  }
}

// A convolution of whole numbers by its definition, in two spatial dimensions.
struct Convolution {
  Shape source, weights;
  std::int64_t groups = 1, stride = 1, pad = 0, dilation = 1;

  Shape result() const {
    const auto along = [this](std::size_t axis) {
      return (source[axis] + 2 * pad - (weights[axis] - 1) * dilation - 1) / stride + 1;
    };
    return {source[0], weights[0], along(2), along(3)};
  }

  std::vector<std::int64_t> Sums(const std::vector<std::int64_t>& x, std::int64_t x_zero,
                                 const std::vector<std::int64_t>& w, const std::vector<std::int64_t>& w_zero) const {
    std::vector<std::int64_t> sums;
    const Shape out = result();
    for (std::int64_t n = 0; n < out[0]; ++n)
      for (std::int64_t o = 0; o < out[1]; ++o)
        for (std::int64_t y = 0; y < out[2]; ++y)
          for (std::int64_t z = 0; z < out[3]; ++z) {
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < weights[1]; ++i)
              for (std::int64_t a = 0; a < weights[2]; ++a)
                for (std::int64_t b = 0; b < weights[3]; ++b) {
                  const std::int64_t row = y * stride - pad + a * dilation, column = z * stride - pad + b * dilation;
                  if (row < 0 || row >= source[2] || column < 0 || column >= source[3]) continue;
                  const std::int64_t channel = o / (weights[0] / groups) * weights[1] + i;
                  const std::int64_t from = ((n * source[1] + channel) * source[2] + row) * source[3] + column;
                  const std::int64_t weight = ((o * weights[1] + i) * weights[2] + a) * weights[3] + b;
                  sum += (x[static_cast<std::size_t>(from)] - x_zero) *
                         (w[static_cast<std::size_t>(weight)] - w_zero[static_cast<std::size_t>(o)]);
                }
            sums.push_back(sum);
          }
    return sums;
  }
};

Convolution RandomConvolution(Random& random) {
  const auto some = [&random](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.Below(most)); };
  Convolution shape;
  shape.groups = random.Below(4) == 0 ? some(4) : 1;
  const std::int64_t in = some(20), out = some(24), kernel = some(3);
  shape.dilation = random.Below(4) == 0 ? 2 : 1;
  shape.stride = some(2);
  shape.pad = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(kernel)));
  shape.source = {some(3), in * shape.groups, 5 + some(8), 5 + some(8)};
  shape.weights = {out * shape.groups, in, kernel, kernel};
  return shape;
}

std::map<std::string, Attribute> AttributesOf(const Convolution& shape) {
  return {{"group", shape.groups},
          {"strides", std::vector<std::int64_t>(2, shape.stride)},
          {"dilations", std::vector<std::int64_t>(2, shape.dilation)},
          {"pads", std::vector<std::int64_t>(4, shape.pad)}};
}

TEST(QuantizedConvolution, IsWhatItsDefinitionSaysOnBytesAndOnFloats) {
  Random random(6);
  int on_bytes = 0;
  for (int round = 0; round < 60; ++round) {
    const Convolution shape = RandomConvolution(random);
    const Shape result = shape.result();
    // Small weights around zero go through bytes everywhere; others where the processor can.
    const bool small = random.Below(2) == 0;
    const DataType x_type = small || random.Below(2) == 0 ? DataType::kUint8 : DataType::kInt8;
    const DataType w_type = random.Below(3) == 0 ? DataType::kUint8 : DataType::kInt8;
    const DataType y_type = random.Below(2) == 0 ? DataType::kUint8 : DataType::kInt8;
    const int middle = w_type == DataType::kUint8 ? 128 : 0;
    const int most = small ? 64 : 127;
    const auto channels = static_cast<std::size_t>(shape.weights[0]);
    const bool by_channel = random.Below(2) == 0;
    std::vector<float> w_scales(by_channel ? channels : 1);
    std::vector<int> w_zeros(w_scales.size(), middle);
    for (float& scale : w_scales) scale = static_cast<float>(0.001 + 0.01 * random.Uniform());
    if (!small && random.Below(2) == 0) w_zeros.assign(w_zeros.size(), middle + 7);
    const int x_zero = EndsOf(x_type).low + static_cast<int>(random.Below(256));
    const int y_zero = EndsOf(y_type).low + static_cast<int>(random.Below(256));
    const float x_scale = 0.02f, y_scale = 0.3f;
    std::vector<std::int32_t> bias(channels);
    for (std::int32_t& one : bias) one = static_cast<std::int32_t>(random.Below(4001)) - 2000;
    const TensorData x = RandomBytes(random, x_type, shape.source, EndsOf(x_type).low, EndsOf(x_type).high);
    const TensorData w = RandomBytes(random, w_type, shape.weights, middle - most, middle + most);
    const bool biased = random.Below(3) != 0;

    ModelMaker maker;
    const int in = maker.Input(shape.source, x_type);
    const Shape per_weight = by_channel ? Shape{shape.weights[0]} : Shape{};
    std::vector<int> inputs = {in,
                               maker.Constant(Scalar(x_scale)),
                               maker.Constant(Bytes(x_type, {}, {x_zero})),
                               maker.Constant(w),
                               maker.Constant(ConstantData::Floats(per_weight, w_scales)),
                               maker.Constant(Bytes(w_type, per_weight, w_zeros)),
                               maker.Constant(Scalar(y_scale)),
                               maker.Constant(Bytes(y_type, {}, {y_zero}))};
    if (biased) inputs.push_back(maker.Constant(Int32s(bias)));
    const int out = maker.Node("QLinearConv", inputs, result, AttributesOf(shape), y_type);

    std::vector<std::int64_t> all_zeros(channels);
    for (std::size_t c = 0; c < channels; ++c) all_zeros[c] = w_zeros[by_channel ? c : 0];
    const std::vector<std::int64_t> sums = shape.Sums(x->AsInt64s(), x_zero, w->AsInt64s(), all_zeros);
    std::vector<int> expected;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t c = i / static_cast<std::size_t>(result[2] * result[3]) % channels;
      const double factor = static_cast<double>(x_scale) * w_scales[by_channel ? c : 0] / y_scale;
      expected.push_back(Stored(static_cast<double>(sums[i] + (biased ? bias[c] : 0)) * factor, y_zero, y_type));
    }
    for (const int workers : {1, 3}) {
      SCOPED_TRACE(::testing::Message() << "round " << round << ", " << workers << " workers");
      ExpectWithinOne(RunGroup(maker.model(), {0}, {{in, x}}, {.workers = workers}).at(out), expected);
    }
    if (small && shape.groups == 1) {
      const std::vector<int> nodes = {0};
      const auto kernel = MakeKernel({.model = &maker.model(), .nodes = nodes, .workers = 1, .available = {}});
      on_bytes += kernel->input_specs().front().layout == Layout::kChannelsLast;
    }
  }
  EXPECT_GT(on_bytes, 0) << "oneDNN has fast kernels for bytes on every processor that has AVX2";
}

// A kernel of two rows on one row and one of padding on either side, and with a second row of padding there.
TEST(QuantizedConvolution, RefusesWindowsThatMeetNothingButPadding) {
  const auto refused = [](std::int64_t before, std::int64_t after) {
    ModelMaker maker;
    const Shape result = {1, 1, before + after, 1};
    maker.Node(
        "QLinearConv",
        {maker.Input({1, 1, 1, 1}, DataType::kUint8), maker.Constant(Scalar(1)),
         maker.Constant(Bytes(DataType::kUint8, {}, {0})), maker.Constant(Bytes(DataType::kInt8, {1, 1, 2, 1}, {1, 1})),
         maker.Constant(Scalar(1)), maker.Constant(Bytes(DataType::kInt8, {}, {0})), maker.Constant(Scalar(1)),
         maker.Constant(Bytes(DataType::kUint8, {}, {0}))},
        result, {{"pads", std::vector<std::int64_t>{before, 0, after, 0}}}, DataType::kUint8);
    return UnsupportedReason(maker.model(), 0);
  };
  EXPECT_EQ(refused(1, 1), "");
  EXPECT_EQ(refused(2, 1), "QLinearConv of rows that are padding");
  EXPECT_EQ(refused(1, 2), "QLinearConv of rows that are padding");
}

TEST(QuantizedConvolution, OfIntegersGivesTheSums) {
  Random random(7);
  for (int round = 0; round < 30; ++round) {
    const Convolution shape = RandomConvolution(random);
    const TensorData x = RandomBytes(random, DataType::kUint8, shape.source, 0, 255);
    const TensorData w = RandomBytes(random, DataType::kUint8, shape.weights, 0, 255);
    ModelMaker maker;
    const int in = maker.Input(shape.source, DataType::kUint8);
    const bool computed = random.Below(2) == 0;
    const TensorData zero = Bytes(DataType::kUint8, {}, {9});
    const int x_zero = computed ? maker.Input({}, DataType::kUint8) : maker.Constant(zero);
    const int out =
        maker.Node("ConvInteger", {in, maker.Constant(w), x_zero, maker.Constant(Bytes(DataType::kUint8, {}, {120}))},
                   shape.result(), AttributesOf(shape), DataType::kInt32);
    std::map<int, TensorData> inputs = {{in, x}};
    if (computed) inputs.emplace(x_zero, zero);
    const std::vector<std::int64_t> zeros(static_cast<std::size_t>(shape.weights[0]), 120);
    ExpectExactly(RunGroup(maker.model(), {0}, inputs, {.workers = 2}).at(out),
                  shape.Sums(x->AsInt64s(), 9, w->AsInt64s(), zeros));
  }
}

// left x right, batch by batch, both less their zero points.
std::vector<std::int64_t> Product(const std::vector<std::int64_t>& left, std::int64_t left_zero,
                                  const std::vector<std::int64_t>& right, const std::vector<int>& right_zero,
                                  std::int64_t batches, std::int64_t rows, std::int64_t inner, std::int64_t columns,
                                  bool one_right, bool transposed) {
  std::vector<std::int64_t> sums;
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          const std::int64_t at =
              (one_right ? 0 : b * inner * columns) + (transposed ? c * inner + k : k * columns + c);
          sum += (left[static_cast<std::size_t>((b * rows + r) * inner + k)] - left_zero) *
                 (right[static_cast<std::size_t>(at)] -
                  right_zero[right_zero.size() == 1 ? 0 : static_cast<std::size_t>(c)]);
        }
        sums.push_back(sum);
      }
  return sums;
}

TEST(QuantizedProduct, IsWhatItsDefinitionSays) {
  Random random(8);
  for (int round = 0; round < 80; ++round) {
    const auto some = [&random](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.Below(most)); };
    const std::int64_t batches = some(3), rows = some(80), inner = some(70), columns = some(150);
    const bool gemm = random.Below(3) == 0, transposed = gemm && random.Below(2) == 0;
    const bool one_right = gemm || random.Below(2) == 0, computed = !gemm && random.Below(3) == 0;
    const bool small = random.Below(2) == 0, stores = !gemm || random.Below(2) == 0;
    const DataType a_type = small || random.Below(2) == 0 ? DataType::kUint8 : DataType::kInt8;
    const DataType b_type = random.Below(2) == 0 ? DataType::kUint8 : DataType::kInt8;
    const DataType byte = random.Below(2) == 0 ? DataType::kUint8 : DataType::kInt8;
    const DataType y_type = stores ? byte : DataType::kFloat32;
    const int middle = b_type == DataType::kUint8 ? 128 : 0;
    const Shape a_shape = gemm ? Shape{rows, inner} : Shape{batches, rows, inner};
    const std::int64_t own_batches = gemm ? 1 : batches;
    Shape b_shape = transposed ? Shape{columns, inner} : Shape{inner, columns};
    if (!one_right) b_shape.insert(b_shape.begin(), batches);
    const bool by_column = one_right && random.Below(2) == 0;
    std::vector<float> b_scales(by_column ? static_cast<std::size_t>(columns) : 1);
    for (float& scale : b_scales) scale = static_cast<float>(0.001 + 0.01 * random.Uniform());
    const std::vector<int> b_zeros(b_scales.size(), small ? middle : middle + 5);
    const int a_zero = EndsOf(a_type).low + static_cast<int>(random.Below(256));
    const int y_zero = EndsOf(byte).low + static_cast<int>(random.Below(256));
    const float a_scale = 0.02f, y_scale = stores ? 0.4f : 1;
    const TensorData a = RandomBytes(random, a_type, a_shape, EndsOf(a_type).low, EndsOf(a_type).high);
    const int most = small ? 64 : 120;
    const TensorData b = RandomBytes(random, b_type, b_shape, middle - most, middle + most);

    ModelMaker maker;
    const int left = maker.Input(a_shape, a_type);
    const int right = computed ? maker.Input(b_shape, b_type) : maker.Constant(b);
    const Shape per_column = by_column ? Shape{columns} : Shape{};
    std::vector<int> inputs = {left,
                               maker.Constant(Scalar(a_scale)),
                               maker.Constant(Bytes(a_type, {}, {a_zero})),
                               right,
                               maker.Constant(ConstantData::Floats(per_column, b_scales)),
                               maker.Constant(Bytes(b_type, per_column, b_zeros))};
    std::vector<std::int32_t> addend(static_cast<std::size_t>(columns), 0);
    if (gemm) {
      for (std::int32_t& one : addend) one = static_cast<std::int32_t>(random.Below(2001)) - 1000;
      inputs.push_back(maker.Constant(Int32s(addend)));
    }
    if (stores) {
      inputs.push_back(maker.Constant(Scalar(y_scale)));
      inputs.push_back(maker.Constant(Bytes(y_type, {}, {y_zero})));
    }
    Shape result = a_shape;
    result.back() = columns;
    const int out = gemm ? maker.Node("QGemm", inputs, result, {{"transB", std::int64_t{transposed}}}, y_type)
                         : maker.Node("QLinearMatMul", inputs, result, {}, y_type);
    Model model = maker.model();
    if (gemm) model.nodes[0].domain = "com.microsoft";

    const std::vector<std::int64_t> sums = Product(a->AsInt64s(), a_zero, b->AsInt64s(), b_zeros, own_batches, rows,
                                                   inner, columns, one_right, transposed);
    std::vector<int> expected;
    std::vector<float> numbers;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t c = i % static_cast<std::size_t>(columns);
      const double factor = static_cast<double>(a_scale) * b_scales[by_column ? c : 0] / y_scale;
      numbers.push_back(static_cast<float>(static_cast<double>(sums[i] + addend[c]) * factor));
      expected.push_back(Stored(static_cast<double>(sums[i] + addend[c]) * factor, y_zero, byte));
    }
    std::map<int, TensorData> given = {{left, a}};
    if (computed) given.emplace(right, b);
    for (const int workers : {1, 3}) {
      SCOPED_TRACE(::testing::Message() << "round " << round << ", " << workers << " workers");
      const TensorData made = RunGroup(model, {0}, given, {.workers = workers}).at(out);
      if (stores) {
        ExpectWithinOne(made, expected);
      } else {
        testing::ExpectClose(made, ConstantData::Floats(result, numbers), 1e-6);
      }
    }
  }
}

TEST(QuantizedProduct, OfIntegersGivesTheSumsWhereverTheZeroPointComesFrom) {
  Random random(9);
  for (int round = 0; round < 40; ++round) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random.Below(90)), inner = 37, columns = 70;
    const int most = random.Below(2) == 0 ? 64 : 127;
    const TensorData a = RandomBytes(random, DataType::kUint8, {rows, inner}, 0, 255);
    const TensorData b = RandomBytes(random, DataType::kInt8, {inner, columns}, -most, most);
    const TensorData zero = Bytes(DataType::kUint8, {}, {200});
    ModelMaker maker;
    const int left = maker.Input({rows, inner}, DataType::kUint8);
    const bool computed = random.Below(2) == 0;
    const int a_zero = computed ? maker.Input({}, DataType::kUint8) : maker.Constant(zero);
    const int out =
        maker.Node("MatMulInteger", {left, maker.Constant(b), a_zero}, {rows, columns}, {}, DataType::kInt32);
    std::map<int, TensorData> given = {{left, a}};
    if (computed) given.emplace(a_zero, zero);
    for (const int workers : {1, 2})
      ExpectExactly(RunGroup(maker.model(), {0}, given, {.workers = workers}).at(out),
                    Product(a->AsInt64s(), 200, b->AsInt64s(), {0}, 1, rows, inner, columns, true, false));
  }
}

}  // namespace
}  // namespace millrace
