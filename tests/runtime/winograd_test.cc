// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "millrace/runtime/reorder.h"
#include "millrace/runtime/winograd_convolution.h"
#include "millrace/vector/lanes.h"
#include "tests/runtime/reference_kernels.h"

namespace millrace {
namespace {

using testing::ExpectGroupMatches;
using testing::ModelMaker;
using testing::RandomTensor;

std::vector<float> RandomFloats(Random& random, std::int64_t count) {
  return RandomTensor(random, {count})->AsFloats();
}

LaneArray InLanes(const std::vector<float>& values) {
  LaneArray lanes(values.size());
  std::copy(values.begin(), values.end(), lanes.data());
  return lanes;
}

// The sum that defines a result of a channel by itself, zeros around the image.
double Convolved(const std::vector<float>& image, std::int64_t rows, std::int64_t columns, std::int64_t lane,
                 std::span<const float, 9> window, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (std::int64_t i = 0; i < 9; ++i) {
    const std::int64_t y = row + i / 3, x = column + i % 3;
    if (y < 0 || y >= rows || x < 0 || x >= columns) continue;
    sum += double{window[static_cast<std::size_t>(i)]} *
           image[static_cast<std::size_t>((y * columns + x) * ChannelBlock() + lane)];
  }
  return sum;
}

struct BorderCase {
  std::int64_t rows, columns, before_rows, before_columns, after;  // of the image, and zeros around it
};

TEST(Winograd, ConvolvesOneChannelAsTheDefinitionDoesAtEveryBorder) {
  for (const BorderCase& of : {BorderCase{6, 6, 0, 0, 0}, BorderCase{7, 9, 1, 1, 1}, BorderCase{13, 10, 0, 1, 2},
                               BorderCase{5, 22, 2, 0, 1}, BorderCase{3, 3, 1, 1, 1}}) {
    SCOPED_TRACE(std::to_string(of.rows) + " x " + std::to_string(of.columns));
    Random random(3);
    const std::int64_t block = ChannelBlock();
    const std::int64_t rows = of.rows + of.before_rows + of.after - 2;
    const std::int64_t columns = of.columns + of.before_columns + of.after - 2;
    const std::vector<float> image = RandomFloats(random, of.rows * of.columns * block);
    const std::vector<float> residual = RandomFloats(random, rows * columns * block);
    const std::vector<float> bias = RandomFloats(random, block), window = RandomFloats(random, 9);
    const LaneArray image_lanes = InLanes(image), residual_lanes = InLanes(residual), bias_lanes = InLanes(bias);
    const std::span<const float, 9> taps(window.data(), 9);
    std::vector<float> weights(kWinogradNumbers);
    TransformWindow(taps, weights.data(), 1);

    LaneArray results(residual.size());
    const std::int64_t tiles = (columns + kWinogradResults - 1) / kWinogradResults;
    const std::int64_t stride = tiles * block;
    LaneArray transformed(static_cast<std::size_t>(kWinogradNumbers * stride));
    for (std::int64_t first = 0; first < rows; first += kWinogradResults) {
      TransformInputs({of.rows, of.columns, first - of.before_rows, -of.before_columns, tiles, block},
                      image_lanes.data(), transformed.data(), stride);
      for (std::int64_t i = 0; i < kWinogradNumbers * stride; ++i)
        transformed.data()[i] *= weights[static_cast<std::size_t>(i / stride)];
      TransformResults({rows, columns, first, 0, tiles, block}, transformed.data(), stride,
                       {bias_lanes.data(), residual_lanes.data(), -0.5f, 1.5f}, results.data());
    }
    for (std::int64_t i = 0; i < rows * columns * block; ++i) {
      const std::int64_t lane = i % block, row = i / block / columns, column = i / block % columns;
      const double sum =
          Convolved(image, of.rows, of.columns, lane, taps, row - of.before_rows, column - of.before_columns) +
          bias[static_cast<std::size_t>(lane)] + residual[static_cast<std::size_t>(i)];
      ASSERT_NEAR(results.data()[i], std::clamp(sum, -0.5, 1.5), 2e-5) << "result " << i;
    }
  }
}

struct KernelCase {
  std::int64_t images = 1, channels = 16, outputs = 16;
  std::int64_t rows = 12, columns = 12, pad = 1;
  std::string end = {};  // an activation
  bool residual = false;
};

std::unique_ptr<Kernel> MakeByWinograd(const KernelRequest& request) {
  const Epilogue epilogue = EpilogueOf(*request.model, request.nodes, request.nodes.front(), 1);
  EXPECT_TRUE(CanTakeWinograd(*request.model, epilogue));
  EXPECT_EQ(epilogue.nodes.size(), request.nodes.size());
  return MakeWinogradConvolution(request, epilogue);
}

TEST(WinogradConvolution, MatchesTheSlowOneWithWhateverFollows) {
  for (const KernelCase& of : {KernelCase{}, KernelCase{.channels = 20, .outputs = 36, .rows = 9, .columns = 17},
                               KernelCase{.images = 3, .channels = 33, .outputs = 8, .rows = 7, .columns = 6, .pad = 0},
                               KernelCase{.channels = 9, .outputs = 50, .end = "Relu"},
                               KernelCase{.images = 2, .outputs = 24, .end = "Clip", .residual = true},
                               KernelCase{.channels = 24, .rows = 4, .columns = 30, .pad = 2, .residual = true},
                               KernelCase{.channels = 32, .rows = 41, .columns = 7, .end = "Relu", .residual = true}}) {
    SCOPED_TRACE(std::to_string(of.images) + " x " + std::to_string(of.channels) + " x " + std::to_string(of.rows) +
                 " x " + std::to_string(of.columns) + " to " + std::to_string(of.outputs));
    Random random(5);
    ModelMaker maker;
    const Shape shape = {of.images, of.outputs, of.rows + 2 * of.pad - 2, of.columns + 2 * of.pad - 2};
    const int source = maker.Input({of.images, of.channels, of.rows, of.columns});
    int value = maker.Node("Conv",
                           {source, maker.Constant(RandomTensor(random, {of.outputs, of.channels, 3, 3}, -0.2, 0.2)),
                            maker.Constant(RandomTensor(random, {of.outputs}))},
                           shape, {{"kernel_shape", Shape{3, 3}}, {"pads", Shape(4, of.pad)}});
    value = maker.Node("Mul", {value, maker.Constant(RandomTensor(random, {of.outputs, 1, 1}))}, shape);
    if (of.residual) value = maker.Node("Add", {value, maker.Input(shape)}, shape);
    if (of.end == "Clip") {
      maker.Node(
          "Clip",
          {value, maker.Constant(ConstantData::Floats({}, {-0.25f})), maker.Constant(ConstantData::Floats({}, {0.5f}))},
          shape);
    } else if (!of.end.empty()) {
      maker.Node(of.end, {value}, shape);
    }
    ExpectGroupMatches(maker.model(), random, 1e-4, MakeByWinograd);
  }
}

TEST(WinogradConvolution, MatchesTheSlowOneWhereItTakesTheImageInPieces) {
  Random random(6);
  for (const std::int64_t channels : {1, 16}) {
    ModelMaker maker;
    const Shape shape = {1, channels, 70, 4000 / channels};
    const int source = maker.Input(shape);
    maker.Node("Conv", {source, maker.Constant(RandomTensor(random, {channels, channels, 3, 3}))}, shape,
               {{"pads", Shape(4, 1)}});
    ExpectGroupMatches(maker.model(), random, 1e-4, MakeByWinograd);
  }
}

TEST(WinogradConvolution, LeavesOtherConvolutionsAlone) {
  struct Other {
    Shape weights = {16, 16, 3, 3};
    std::int64_t stride = 1, dilation = 1, group = 1;
    const char* end = "Relu";
  };
  for (const Other& of : {Other{.weights = {16, 16, 1, 3}}, Other{.stride = 2}, Other{.dilation = 2},
                          Other{.weights = {16, 4, 3, 3}, .group = 4}, Other{.end = "Sigmoid"}}) {
    Random random(7);
    ModelMaker maker;
    const auto along = [&of](std::size_t axis) {
      return (20 - of.dilation * (of.weights[axis] - 1) - 1) / of.stride + 1;
    };
    const Shape shape = {1, 16, along(2), along(3)};
    const int value =
        maker.Node("Conv", {maker.Input({1, 16, 20, 20}), maker.Constant(RandomTensor(random, of.weights))}, shape,
                   {{"strides", Shape(2, of.stride)}, {"dilations", Shape(2, of.dilation)}, {"group", of.group}});
    maker.Node(of.end, {value}, shape);
    EXPECT_FALSE(CanTakeWinograd(maker.model(), EpilogueOf(maker.model(), maker.AllNodes(), 0, 1)));
  }
}

}  // namespace
}  // namespace millrace
