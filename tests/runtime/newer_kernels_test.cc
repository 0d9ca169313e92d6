// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/runtime/kernel_harness.h"

// Transposed convolutions, Einsum, and the normalisations and activations of opsets 18 to 22, on sizes that the cases
// of ONNX do not have: whole blocks of channels, several workers, groups.
namespace millrace {
namespace {

using testing::ExpectClose;
using testing::HarnessOptions;
using testing::ModelMaker;
using testing::RandomTensor;
using testing::RunGroup;
using testing::TensorData;

using Ints = std::vector<std::int64_t>;

// Runs the only node of the model in every way a kernel is run, and compares its output number `output`.
void ExpectNode(const ModelMaker& maker, const std::map<int, TensorData>& inputs, const TensorData& expected,
                std::size_t output = 0) {
  ASSERT_EQ(UnsupportedReason(maker.model(), 0), "");
  for (const int workers : {1, 2, 3}) {
    for (const Layout available : testing::kLayouts) {
      SCOPED_TRACE(workers);
      ExpectClose(RunGroup(maker.model(), {0}, inputs, {workers, available}).at(maker.model().nodes[0].outputs[output]),
                  expected);
    }
  }
}

struct Transposed {
  std::int64_t images, in, out, group, size, kernel, stride, pad, dilation, more;
};

void PrintTo(const Transposed& t, std::ostream* out) { *out << t.in << " to " << t.out << " in " << t.group; }

std::int64_t ExtentOf(const Transposed& t) {
  return t.stride * (t.size - 1) + t.more + (t.kernel - 1) * t.dilation + 1 - 2 * t.pad;
}

// Every element of the input is spread over the output, as the definition says.
TensorData Spread(const Transposed& t, const std::vector<float>& x, const std::vector<float>& w,
                  const std::vector<float>& bias) {
  const std::int64_t extent = ExtentOf(t), per_out = t.out / t.group, per_in = t.in / t.group;
  std::vector<float> y(static_cast<std::size_t>(t.images * t.out * extent * extent));
  const auto at = [&](std::int64_t n, std::int64_t c, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(((n * t.out + c) * extent + i) * extent + j);
  };
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i)
    y[static_cast<std::size_t>(i)] = bias[static_cast<std::size_t>(i / (extent * extent) % t.out)];
  for (std::int64_t n = 0; n < t.images; ++n) {
    for (std::int64_t c = 0; c < t.in; ++c) {
      for (std::int64_t m = 0; m < per_out; ++m) {
        for (std::int64_t p = 0; p < t.size * t.size * t.kernel * t.kernel; ++p) {
          const std::int64_t a = p % t.kernel, b = p / t.kernel % t.kernel;
          const std::int64_t i = p / (t.kernel * t.kernel) % t.size, j = p / (t.kernel * t.kernel * t.size);
          const std::int64_t to_i = i * t.stride + a * t.dilation - t.pad, to_j = j * t.stride + b * t.dilation - t.pad;
          if (to_i < 0 || to_j < 0 || to_i >= extent || to_j >= extent) continue;
          y[at(n, c / per_in * per_out + m, to_i, to_j)] +=
              x[static_cast<std::size_t>(((n * t.in + c) * t.size + i) * t.size + j)] *
              w[static_cast<std::size_t>(((c * per_out + m) * t.kernel + a) * t.kernel + b)];
        }
      }
    }
  }
  return ConstantData::Floats({t.images, t.out, extent, extent}, y);
}

class ConvolutionTransposeKernel : public ::testing::TestWithParam<Transposed> {};

TEST_P(ConvolutionTransposeKernel, SpreadsEveryElementAsTheDefinitionSays) {
  const Transposed& t = GetParam();
  for (const bool computed_weights : {false, true}) {
    Random random(3);
    ModelMaker maker;
    const Shape weights_shape = {t.in, t.out / t.group, t.kernel, t.kernel};
    const TensorData x = RandomTensor(random, {t.images, t.in, t.size, t.size});
    const TensorData w = RandomTensor(random, weights_shape), bias = RandomTensor(random, {t.out});
    const int source = maker.Input(x->shape());
    const int weights = computed_weights ? maker.Input(weights_shape) : maker.Constant(w);
    const TensorData expected = Spread(t, x->AsFloats(), w->AsFloats(), bias->AsFloats());
    maker.Output(maker.Node("ConvTranspose", {source, weights, maker.Constant(bias)}, expected->shape(),
                            {{"group", t.group},
                             {"strides", Ints(2, t.stride)},
                             {"pads", Ints(4, t.pad)},
                             {"dilations", Ints(2, t.dilation)},
                             {"output_padding", Ints(2, t.more)}}));
    std::map<int, TensorData> inputs = {{source, x}};
    if (computed_weights) inputs[weights] = w;
    ExpectNode(maker, inputs, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, ConvolutionTransposeKernel,
    ::testing::Values(Transposed{1, 3, 5, 1, 4, 3, 2, 1, 1, 1}, Transposed{2, 32, 48, 1, 5, 4, 2, 1, 1, 0},
                      Transposed{1, 16, 16, 1, 6, 2, 2, 0, 1, 0}, Transposed{2, 6, 9, 3, 4, 3, 1, 0, 2, 0},
                      Transposed{3, 32, 32, 32, 5, 3, 2, 1, 1, 1}, Transposed{1, 4, 2, 1, 3, 1, 3, 0, 1, 2}));

TEST(EinsumKernel, MultipliesAndSumsInAnyOrderOfDimensions) {
  struct Case {
    std::string equation;
    std::vector<Shape> inputs;
    std::string output;  // letters, an ellipsis spelled out
    std::vector<std::string> terms;
  };
  const std::vector<Case> cases = {
      {"bhid,bhjd->bhij", {{2, 3, 4, 5}, {2, 3, 6, 5}}, "bhij", {"bhid", "bhjd"}},
      {"bihd,bjhd->bhij", {{2, 4, 3, 5}, {2, 6, 3, 5}}, "bhij", {"bihd", "bjhd"}},
      {"bhij,bjhd->bihd", {{2, 3, 4, 6}, {2, 6, 3, 5}}, "bihd", {"bhij", "bjhd"}},
      {"...ij,jk->...ik", {{2, 3, 4, 5}, {5, 6}}, "abik", {"abij", "jk"}},
      {"...ij,...jk", {{2, 1, 4, 5}, {3, 5, 6}}, "abik", {"abij", "bjk"}},
      {"i,j->ij", {{4}, {5}}, "ij", {"i", "j"}},
      {"ij,ij->", {{4, 5}, {4, 5}}, "", {"ij", "ij"}},
      {"iij->j", {{4, 4, 5}}, "j", {"iij"}},
      {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}, "il", {"ij", "jk", "kl"}},
      {"ij , kj -> k", {{2, 3}, {4, 3}}, "k", {"ij", "kj"}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.equation);
    Random random(5);
    std::map<char, std::int64_t> extents;
    std::vector<std::vector<float>> data;
    ModelMaker maker;
    std::vector<int> ids;
    std::map<int, TensorData> inputs;
    for (std::size_t i = 0; i < one.inputs.size(); ++i) {
      ids.push_back(maker.Input(one.inputs[i]));
      inputs[ids.back()] = RandomTensor(random, one.inputs[i]);
      data.push_back(inputs[ids.back()]->AsFloats());
      for (std::size_t d = 0; d < one.terms[i].size(); ++d) {
        std::int64_t& extent = extents[one.terms[i][d]];
        extent = std::max(extent, one.inputs[i][d]);
      }
    }
    // Over all values of all letters at once.
    Shape shape;
    for (const char letter : one.output) shape.push_back(extents[letter]);
    std::vector<float> sums(static_cast<std::size_t>(ElementsOf(shape)), 0.0f);
    std::map<char, std::int64_t> at;
    const auto place = [&](const std::string& letters, const Shape& of) {
      std::int64_t index = 0;
      for (std::size_t d = 0; d < letters.size(); ++d) index = index * of[d] + (of[d] == 1 ? 0 : at[letters[d]]);
      return static_cast<std::size_t>(index);
    };
    const std::function<void(std::map<char, std::int64_t>::const_iterator)> walk = [&](auto letter) {
      if (letter == extents.end()) {
        float product = 1;
        for (std::size_t i = 0; i < data.size(); ++i) product *= data[i][place(one.terms[i], one.inputs[i])];
        sums[place(one.output, shape)] += product;
        return;
      }
      for (std::int64_t i = 0; i < letter->second; ++i) {
        at[letter->first] = i;
        walk(std::next(letter));
      }
    };
    walk(extents.begin());
    maker.Output(maker.Node("Einsum", ids, shape, {{"equation", one.equation}}));
    ExpectNode(maker, inputs, ConstantData::Floats(shape, sums));
  }
}

TEST(EinsumKernel, RefusesAnEquationThatDoesNotFitItsInputs) {
  for (const std::string equation : {"ij,jk", "i->i", "ij->ijk", "ij-ij", "ij->ii"}) {
    ModelMaker maker;
    maker.Output(maker.Node("Einsum", {maker.Input({2, 3})}, {2, 3}, {{"equation", equation}}));
    EXPECT_THAT(UnsupportedReason(maker.model(), 0), ::testing::HasSubstr("equation '" + equation + "'"));
  }
}

TEST(GroupNormalizationKernel, ScalesByGroupBeforeOpset21AndByChannelSince) {
  for (const std::int64_t opset : {18, 20, 21, 22}) {
    Random random(7);
    ModelMaker maker(opset);
    const std::int64_t channels = 16, groups = 4, pixels = 15;
    const TensorData x = RandomTensor(random, {2, channels, 3, 5}, 1, 5);
    const Shape parameters = {opset < 21 ? groups : channels};
    const TensorData scale = RandomTensor(random, parameters), shift = RandomTensor(random, parameters);
    const int input = maker.Input(x->shape());
    maker.Output(maker.Node("GroupNormalization", {input, maker.Constant(scale), maker.Constant(shift)}, x->shape(),
                            {{"num_groups", groups}, {"epsilon", 1e-3f}}));
    std::vector<float> y = x->AsFloats();
    const std::int64_t length = channels / groups * pixels;
    for (std::int64_t row = 0; row < 2 * groups; ++row) {
      float* from = y.data() + row * length;
      double mean = 0, variance = 0;
      for (std::int64_t i = 0; i < length; ++i) mean += from[i] / static_cast<double>(length);
      for (std::int64_t i = 0; i < length; ++i)
        variance += (from[i] - mean) * (from[i] - mean) / static_cast<double>(length);
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t group = row % groups, channel = group * (channels / groups) + i / pixels;
        const auto at = static_cast<std::size_t>(opset < 21 ? group : channel);
        from[i] = static_cast<float>((from[i] - mean) / std::sqrt(variance + 1e-3)) * scale->AsFloats()[at] +
                  shift->AsFloats()[at];
      }
    }
    ExpectNode(maker, {{input, x}}, ConstantData::Floats(x->shape(), y));
  }
}

TEST(NewerActivations, GiveWhatTheirDefinitionsSay) {
  struct Case {
    std::string op, approximate;
    double (*function)(double);
  };
  const std::vector<Case> cases = {
      {"Gelu", "none", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"Gelu", "tanh",
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
      {"Mish", "", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.op + one.approximate);
    Random random(9);
    ModelMaker maker(20);
    const TensorData x = RandomTensor(random, {1, 20, 7, 9}, -8, 8);
    std::vector<float> y;
    for (const float value : x->AsFloats()) y.push_back(static_cast<float>(one.function(value)));
    const int input = maker.Input(x->shape());
    std::map<std::string, Attribute> attributes;
    if (!one.approximate.empty()) attributes["approximate"] = one.approximate;
    maker.Output(maker.Node(one.op, {input}, x->shape(), attributes));
    ExpectNode(maker, {{input, x}}, ConstantData::Floats(x->shape(), y));
  }
}

TEST(LayerNormalizationKernel, GivesMeanAndDeviationAndBroadcastsItsScale) {
  Random random(11);
  ModelMaker maker(17);
  const TensorData x = RandomTensor(random, {6, 4, 5}, 0, 3), scale = RandomTensor(random, {4, 1});
  const int input = maker.Input(x->shape());
  const std::vector<int> outputs =
      maker.NodeOf("LayerNormalization", {input, maker.Constant(scale)},
                   {{DataType::kFloat32, {6, 4, 5}}, {DataType::kFloat32, {6, 1, 1}}, {DataType::kFloat32, {6, 1, 1}}},
                   {{"axis", std::int64_t{1}}});
  for (const int output : outputs) maker.Output(output);
  std::vector<float> y = x->AsFloats(), means, factors;
  for (std::size_t row = 0; row < 6; ++row) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < 20; ++i) mean += y[row * 20 + i] / 20;
    for (std::size_t i = 0; i < 20; ++i) variance += (y[row * 20 + i] - mean) * (y[row * 20 + i] - mean) / 20;
    means.push_back(static_cast<float>(mean));
    factors.push_back(static_cast<float>(1 / std::sqrt(variance + 1e-5)));
    for (std::size_t i = 0; i < 20; ++i)
      y[row * 20 + i] = (y[row * 20 + i] - means[row]) * factors[row] * scale->AsFloats()[i / 5];
  }
  ExpectNode(maker, {{input, x}}, ConstantData::Floats({6, 4, 5}, y), 0);
  ExpectNode(maker, {{input, x}}, ConstantData::Floats({6, 1, 1}, means), 1);
  ExpectNode(maker, {{input, x}}, ConstantData::Floats({6, 1, 1}, factors), 2);
}

// Sizes fit a box of 6 x 6: both axes are scaled by 1.5, and the second one only reaches 3.
TEST(ResizeKernel, KeepsTheAspectRatioOnTheAxesItIsFor) {
  ModelMaker maker(18);
  const TensorData x = ConstantData::Floats({1, 1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const int input = maker.Input(x->shape());
  maker.Output(maker.Node("Resize", {input, -1, -1, maker.Constant(ConstantData::Int64s({2}, {6, 6}))}, {1, 1, 6, 3},
                          {{"axes", Ints{2, 3}},
                           {"keep_aspect_ratio_policy", std::string("not_larger")},
                           {"coordinate_transformation_mode", std::string("asymmetric")},
                           {"nearest_mode", std::string("floor")}}));
  ExpectNode(maker, {{input, x}},
             ConstantData::Floats({1, 1, 6, 3}, {1, 1, 2, 1, 1, 2, 3, 3, 4, 5, 5, 6, 5, 5, 6, 7, 7, 8}));
}

// An odd number of axes, along the last of which two elements are weighed.
TEST(ResizeKernel, WeighsNeighboursOfATensorOfThreeAxes) {
  ModelMaker maker(18);
  const TensorData x = ConstantData::Floats({1, 2, 2}, {1, 3, -2, 6});
  const int input = maker.Input(x->shape());
  maker.Output(maker.Node("Resize", {input, -1, -1, maker.Constant(ConstantData::Int64s({3}, {1, 2, 4}))}, {1, 2, 4},
                          {{"mode", std::string("linear")}}));
  ExpectNode(maker, {{input, x}}, ConstantData::Floats({1, 2, 4}, {1, 1.5f, 2.5f, 3, -2, 0, 4, 6}));
}

TEST(GatherNdKernel, TakesASliceForEveryTupleOnAnyNumberOfWorkers) {
  ModelMaker maker(18);
  Random random(15);
  const TensorData data = RandomTensor(random, {4, 3, 5});
  const int input = maker.Input(data->shape()), indices = maker.Input({37, 2}, DataType::kInt64);
  maker.Output(maker.Node("GatherND", {input, indices}, {37, 5}));
  std::vector<std::int64_t> tuples;
  std::vector<float> taken;
  const std::vector<float> all = data->AsFloats();
  for (int i = 0; i < 37; ++i) {
    const std::size_t a = random.Below(4), b = random.Below(3);
    tuples.push_back(static_cast<std::int64_t>(a));
    tuples.push_back(static_cast<std::int64_t>(b));
    for (std::size_t c = 0; c < 5; ++c) taken.push_back(all[(a * 3 + b) * 5 + c]);
  }
  ExpectNode(maker, {{input, data}, {indices, ConstantData::Int64s({37, 2}, tuples)}},
             ConstantData::Floats({37, 5}, taken));
}

// One row more above and two below; of five columns the first and the last go.
TEST(CenterCropPadKernel, KeepsTheMiddle) {
  ModelMaker maker(18);
  std::vector<float> x(20), y(21, 0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 3; ++column) y[(row + 1) * 3 + column] = x[row * 5 + column + 1];
  }
  const int input = maker.Input({4, 5});
  maker.Output(maker.Node("CenterCropPad", {input, maker.Constant(ConstantData::Int64s({2}, {7, 3}))}, {7, 3}));
  ExpectNode(maker, {{input, ConstantData::Floats({4, 5}, x)}}, ConstantData::Floats({7, 3}, y));
}

TEST(ResizeKernel, RefusesAntialiasingByName) {
  ModelMaker maker(18);
  maker.Output(maker.Node("Resize",
                          {maker.Input({1, 1, 4, 4}), -1, -1, maker.Constant(ConstantData::Int64s({4}, {1, 1, 2, 2}))},
                          {1, 1, 2, 2}, {{"antialias", std::int64_t{1}}, {"mode", std::string("linear")}}));
  EXPECT_EQ(UnsupportedReason(maker.model(), 0), "Resize with antialias");
}

TEST(PReluKernel, TakesSlopesPerChannelInOpset6OnBlockedTensorsToo) {
  Random random(13);
  ModelMaker maker(6);
  const TensorData x = RandomTensor(random, {2, 3, 4, 5}), slopes = ConstantData::Floats({3}, {0.5f, 2, 4});
  const int input = maker.Input(x->shape());
  maker.Output(maker.Node("PRelu", {input, maker.Constant(slopes)}, x->shape()));
  std::vector<float> y = x->AsFloats();
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] < 0) y[i] *= slopes->AsFloats()[i / 20 % 3];
  }
  ExpectNode(maker, {{input, x}}, ConstantData::Floats(x->shape(), y));
}

}  // namespace
}  // namespace millrace
