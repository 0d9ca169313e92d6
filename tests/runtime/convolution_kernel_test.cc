// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/reference/sanitized.h"
#include "tests/runtime/reference_kernels.h"

namespace millrace {
namespace {

using testing::ExpectGroupMatches;
using testing::ModelMaker;
using testing::RandomTensor;

struct ConvolutionCase {
  std::int64_t images = 1, channels = 16, outputs = 16, groups = 1;
  Shape spatial = {7, 7}, kernel = {3, 3}, strides = {1, 1}, dilations = {1, 1}, pads = {1, 1, 1, 1};
  std::string auto_pad = "NOTSET";
  bool bias = true;
};

// Appends the convolution to the model and returns its output; weights are scaled to keep results near 1.
int AddConvolution(ModelMaker& maker, Random& random, const ConvolutionCase& of, int source) {
  Shape weights = {of.outputs, of.channels / of.groups};
  weights.insert(weights.end(), of.kernel.begin(), of.kernel.end());
  Shape output = {of.images, of.outputs};
  for (std::size_t i = 0; i < of.spatial.size(); ++i) {
    const std::int64_t room =
        of.spatial[i] + of.pads[i] + of.pads[i + of.spatial.size()] - ((of.kernel[i] - 1) * of.dilations[i] + 1);
    output.push_back(of.auto_pad.starts_with("SAME") ? (of.spatial[i] + of.strides[i] - 1) / of.strides[i]
                                                     : room / of.strides[i] + 1);
  }
  std::map<std::string, Attribute> attributes = {
      {"strides", of.strides}, {"dilations", of.dilations}, {"group", of.groups}, {"kernel_shape", of.kernel}};
  if (of.auto_pad == "NOTSET") attributes["pads"] = of.pads;
  attributes["auto_pad"] = of.auto_pad;
  std::vector<int> inputs = {source, maker.Constant(RandomTensor(random, weights, -0.2, 0.2))};
  if (of.bias) inputs.push_back(maker.Constant(RandomTensor(random, {of.outputs})));
  return maker.Node("Conv", inputs, output, attributes);
}

int AddSource(ModelMaker& maker, const ConvolutionCase& of) {
  Shape shape = {of.images, of.channels};
  shape.insert(shape.end(), of.spatial.begin(), of.spatial.end());
  return maker.Input(shape);
}

void ExpectConvolutionMatches(const ConvolutionCase& of) {
  Random random(17);
  ModelMaker maker;
  AddConvolution(maker, random, of, AddSource(maker, of));
  ExpectGroupMatches(maker.model(), random);
}

TEST(ConvolutionKernel, MatchesTheSlowOneOnManyChannelCounts) {
  for (const std::int64_t channels : {1, 3, 8, 16, 20, 33, 64}) {
    for (const std::int64_t outputs : {1, 16, 24, 48, 100}) {
      SCOPED_TRACE(std::to_string(channels) + " to " + std::to_string(outputs) + " channels");
      ExpectConvolutionMatches({.channels = channels, .outputs = outputs});
    }
  }
}

TEST(ConvolutionKernel, MatchesTheSlowOneOnWideLayers) {
  ExpectConvolutionMatches(
      {.channels = 512, .outputs = 256, .spatial = {4, 4}, .kernel = {1, 1}, .pads = {0, 0, 0, 0}});
  ExpectConvolutionMatches({.channels = 128, .outputs = 512, .spatial = {3, 3}});
}

// Large enough for Winograd's way, whose tiles of four by four and of two by two do not divide all of these.
TEST(ConvolutionKernel, MatchesTheSlowOneOnThreesInStepsOfOne) {
  for (const std::int64_t side : {7, 13, 16, 33}) {
    for (const std::int64_t pad : {0, 1}) {
      SCOPED_TRACE("side " + std::to_string(side) + ", pad " + std::to_string(pad));
      ExpectConvolutionMatches({.images = side == 16 ? 3 : 1,
                                .channels = 32,
                                .outputs = 48,
                                .spatial = {side, side},
                                .pads = {pad, pad, pad, pad}});
    }
  }
  ExpectConvolutionMatches({.channels = 64, .outputs = 64, .spatial = {28, 20}});
  ExpectConvolutionMatches({.channels = 40, .outputs = 72, .spatial = {19, 30}, .pads = {0, 1, 1, 0}, .bias = false});
}

TEST(ConvolutionKernel, MatchesTheSlowOneOnStridesPadsAndDilations) {
  ExpectConvolutionMatches(
      {.channels = 3, .outputs = 32, .spatial = {19, 23}, .kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}});
  ExpectConvolutionMatches(
      {.channels = 32, .outputs = 32, .spatial = {9, 12}, .strides = {2, 3}, .pads = {0, 1, 2, 0}});
  ExpectConvolutionMatches(
      {.channels = 32, .outputs = 40, .spatial = {11, 11}, .dilations = {2, 3}, .pads = {2, 3, 2, 3}});
  ExpectConvolutionMatches({.channels = 16, .outputs = 16, .spatial = {8, 9}, .kernel = {1, 7}, .pads = {0, 3, 0, 3}});
  ExpectConvolutionMatches({.channels = 48,
                            .outputs = 64,
                            .spatial = {8, 8},
                            .kernel = {1, 1},
                            .strides = {2, 2},
                            .pads = {0, 0, 0, 0},
                            .bias = false});
  // Some rows of the results see padding alone, or skip rows of the source.
  ExpectConvolutionMatches({.spatial = {24, 24}, .strides = {2, 1}, .pads = {5, 0, 5, 0}});
  ExpectConvolutionMatches({.spatial = {29, 23}, .kernel = {1, 1}, .strides = {4, 3}, .pads = {0, 0, 0, 0}});
}

TEST(ConvolutionKernel, MatchesTheSlowOneOnAutomaticPads) {
  for (const char* pad : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    SCOPED_TRACE(pad);
    ExpectConvolutionMatches({.channels = 16,
                              .outputs = 20,
                              .spatial = {8, 7},
                              .kernel = {4, 3},
                              .strides = {2, 2},
                              .pads = {0, 0, 0, 0},
                              .auto_pad = pad});
  }
}

TEST(ConvolutionKernel, MatchesTheSlowOneOnGroups) {
  for (const auto& [channels, outputs, groups] : std::vector<std::tuple<int, int, int>>{{64, 64, 2},
                                                                                        {64, 128, 4},
                                                                                        {24, 48, 3},
                                                                                        {136, 136, 4},
                                                                                        {16, 32, 16},
                                                                                        {100, 100, 100},
                                                                                        {64, 64, 64},
                                                                                        {4, 8, 2}}) {
    SCOPED_TRACE(std::to_string(channels) + " to " + std::to_string(outputs) + " in " + std::to_string(groups));
    ExpectConvolutionMatches({.channels = channels, .outputs = outputs, .groups = groups});
  }
}

TEST(ConvolutionKernel, MatchesTheSlowOneOnSeveralImages) {
  for (const std::int64_t images : {2, 3, 5}) {
    ExpectConvolutionMatches({.images = images, .channels = 20, .outputs = 36});
    ExpectConvolutionMatches({.images = images, .channels = 3, .outputs = 16});
    ExpectConvolutionMatches({.images = images, .channels = 32, .outputs = 32, .groups = 32});
  }
}

TEST(ConvolutionKernel, MatchesTheSlowOneInOneAndThreeDimensions) {
  ExpectConvolutionMatches({.channels = 17,
                            .outputs = 40,
                            .spatial = {30},
                            .kernel = {5},
                            .strides = {2},
                            .dilations = {1},
                            .pads = {2, 1}});
  ExpectConvolutionMatches({.channels = 8,
                            .outputs = 20,
                            .spatial = {5, 6, 7},
                            .kernel = {3, 3, 3},
                            .strides = {1, 2, 1},
                            .dilations = {1, 1, 1},
                            .pads = {1, 1, 1, 1, 1, 1}});
}

TEST(ConvolutionKernel, TakesWeightsComputedByTheModel) {
  Random random(3);
  ModelMaker maker;
  const int source = maker.Input({1, 16, 6, 6});
  const int weights = maker.Input({20, 16, 3, 3});
  const int bias = maker.Input({20});
  maker.Node("Conv", {source, weights, bias}, {1, 20, 4, 4});
  ExpectGroupMatches(maker.model(), random);
}

TEST(ConvolutionKernel, RefusesOtherTypesByName) {
  ModelMaker maker;
  const int source = maker.Input({1, 16, 6, 6}, DataType::kFloat16);
  const int weights = maker.Input({20, 16, 3, 3}, DataType::kFloat16);
  maker.Node("Conv", {source, weights}, {1, 20, 4, 4}, {}, DataType::kFloat16);
  EXPECT_EQ(UnsupportedReason(maker.model(), 0), "Conv on float16");
}

std::vector<int> NormalizationConstants(ModelMaker& maker, Random& random, std::int64_t channels) {
  return {maker.Constant(RandomTensor(random, {channels}, 0.5, 1.5)), maker.Constant(RandomTensor(random, {channels})),
          maker.Constant(RandomTensor(random, {channels})), maker.Constant(RandomTensor(random, {channels}, 0.5, 2))};
}

TEST(ConvolutionKernel, RefusesMoreThanThreeSpatialDimensions) {
  Random random(30);
  ModelMaker maker;
  const Shape shape = {1, 2, 3, 3, 3, 3};
  maker.Node("Conv", {maker.Input(shape), maker.Constant(RandomTensor(random, {2, 2, 1, 1, 1, 1}))}, shape);
  EXPECT_EQ(UnsupportedReason(maker.model(), 0), "Conv with 4 spatial dimensions");
}

TEST(FusedConvolution, FoldsNormalisationAndEndsInEveryActivation) {
  for (const char* activation :
       {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "HardSwish", "HardSigmoid", "Selu", "Softplus"}) {
    for (const ConvolutionCase& of :
         {ConvolutionCase{.channels = 20, .outputs = 36}, ConvolutionCase{.channels = 3, .outputs = 20},
          ConvolutionCase{.channels = 36, .outputs = 36, .groups = 36},
          ConvolutionCase{.channels = 68, .outputs = 136, .groups = 4}}) {
      SCOPED_TRACE(activation);
      Random random(5);
      ModelMaker maker;
      int value = AddConvolution(maker, random, of, AddSource(maker, of));
      std::vector<int> inputs = NormalizationConstants(maker, random, of.outputs);
      inputs.insert(inputs.begin(), value);
      const Shape shape = {1, of.outputs, 7, 7};
      value = maker.Node("BatchNormalization", inputs, shape);
      maker.Node(activation, {value}, shape);
      ExpectGroupMatches(maker.model(), random);
    }
  }
}

TEST(FusedConvolution, AddsAResidualBeforeItsActivation) {
  for (const char* sum : {"Add", "Sum"}) {
    for (std::int64_t images = 1; images <= testing::Rounds(2); ++images) {
      for (const std::int64_t outputs : {64, 100, 130}) {
        Random random(6);
        ModelMaker maker(11);
        const ConvolutionCase of{.images = images,
                                 .channels = 17,
                                 .outputs = outputs,
                                 .spatial = {32, 32},
                                 .kernel = {1, 1},
                                 .pads = {0, 0, 0, 0}};
        const Shape shape = {images, outputs, 32, 32};
        const int source = AddSource(maker, of);
        const int residual = maker.Input(shape);
        int value = AddConvolution(maker, random, of, source);
        value = maker.Node("Mul", {maker.Constant(RandomTensor(random, {outputs, 1, 1})), value}, shape);
        value = maker.Node(sum, {residual, value}, shape);
        maker.Node(
            "Clip",
            {value, maker.Constant(ConstantData::Floats({}, {0.0f})), maker.Constant(ConstantData::Floats({}, {0.9f}))},
            shape);
        ExpectGroupMatches(maker.model(), random);
      }
    }
  }
}

TEST(FusedConvolution, AddsAResidualToThreesInStepsOfOne) {
  for (const std::int64_t outputs : {32, 96}) {
    Random random(8);
    ModelMaker maker;
    const ConvolutionCase of{.channels = 32, .outputs = outputs, .spatial = {28, 30}};
    const Shape shape = {1, outputs, 28, 30};
    const int source = AddSource(maker, of);
    const int residual = maker.Input(shape);
    const int value = AddConvolution(maker, random, of, source);
    maker.Node("Relu", {maker.Node("Add", {value, residual}, shape)}, shape);
    ExpectGroupMatches(maker.model(), random);
  }
}

TEST(FusedConvolution, AddsAResidualToGroupsThatBlocksOfChannelsDoNotFit) {
  for (const std::int64_t images : {1, 3}) {
    Random random(7);
    ModelMaker maker;
    const ConvolutionCase of{.images = images, .channels = 68, .outputs = 136, .groups = 4};
    const Shape shape = {images, 136, 7, 7};
    const int source = AddSource(maker, of);
    const int residual = maker.Input(shape);
    int value = AddConvolution(maker, random, of, source);
    std::vector<int> inputs = NormalizationConstants(maker, random, 136);
    inputs.insert(inputs.begin(), value);
    value = maker.Node("BatchNormalization", inputs, shape);
    value = maker.Node("Sum", {value, residual}, shape);
    maker.Node("Relu", {value}, shape);
    ExpectGroupMatches(maker.model(), random);
  }
}

TEST(FusedConvolution, AddsItsOwnSource) {
  for (const std::int64_t channels : {3, 32}) {
    Random random(8);
    ModelMaker maker;
    const ConvolutionCase of{.channels = channels, .outputs = channels};
    const int source = AddSource(maker, of);
    const int value = AddConvolution(maker, random, of, source);
    maker.Node("Add", {value, source}, {1, channels, 7, 7});
    ExpectGroupMatches(maker.model(), random);
  }
}

TEST(FusedConvolution, FoldsArithmeticWithConstantsInOrder) {
  Random random(9);
  ModelMaker maker;
  const ConvolutionCase of{.channels = 20, .outputs = 36};
  const Shape shape = {1, 36, 7, 7};
  int value = AddConvolution(maker, random, of, AddSource(maker, of));
  value = maker.Node("Sub", {maker.Constant(RandomTensor(random, {36, 1, 1})), value}, shape);
  value = maker.Node("Div", {value, maker.Constant(RandomTensor(random, {1, 36, 1, 1}, 0.5, 2))}, shape);
  value = maker.Node("Mul", {value, maker.Constant(RandomTensor(random, {}))}, shape);
  value = maker.Node("Add", {maker.Constant(RandomTensor(random, {1})), value}, shape);
  maker.Node("Relu", {value}, shape);
  ExpectGroupMatches(maker.model(), random);
}

TEST(FusedConvolution, LetsAnInnerTensorOut) {
  Random random(10);
  ModelMaker maker;
  const ConvolutionCase of{.channels = 20, .outputs = 36};
  const Shape shape = {1, 36, 7, 7};
  const int inner = AddConvolution(maker, random, of, AddSource(maker, of));
  const int last = maker.Node("Relu", {inner}, shape);
  maker.Output(inner);
  maker.Output(last);
  ExpectGroupMatches(maker.model(), random);
}

TEST(FusedConvolution, RunsActivationsBehindActivations) {
  Random random(11);
  ModelMaker maker;
  const ConvolutionCase of{.channels = 20, .outputs = 36};
  const Shape shape = {1, 36, 7, 7};
  int value = AddConvolution(maker, random, of, AddSource(maker, of));
  value = maker.Node("Sigmoid", {value}, shape);
  maker.Node("Tanh", {value}, shape);
  ExpectGroupMatches(maker.model(), random);
}

}  // namespace
}  // namespace millrace
