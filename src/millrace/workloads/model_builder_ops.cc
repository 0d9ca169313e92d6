// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/workloads/model_builder.h"

namespace millrace {
namespace {

using Ints = std::vector<std::int64_t>;

// Positions of a window along one padded dimension. A window larger than that has none.
std::int64_t Positions(std::int64_t padded, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t room = padded - kernel;
  return room < 0 ? 0 : room / stride + 1;
}

Shape Broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    // Counted from the last dimension, as broadcasting does.
    const std::int64_t in_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t in_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (in_a != in_b && in_a != 1 && in_b != 1) {
      throw InvalidInput(fmt::format("dimensions {} and {} do not broadcast", in_a, in_b));
    }
    result[result.size() - 1 - i] = std::max(in_a, in_b);
  }
  return result;
}

void Expect(bool holds, const char* op_type, const char* what) {
  if (!holds) throw InvalidInput(fmt::format("{}: {}", op_type, what));
}

}  // namespace

int ModelBuilder::Conv(int x, const Convolution& convolution) {
  const Shape shape = ShapeOf(x);
  const auto [kernel_height, kernel_width] = convolution.kernel;
  const auto [pad_height, pad_width] = convolution.pad;
  Expect(shape.size() == 4, "Conv", "its input has no four dimensions");
  Expect(shape[1] % convolution.groups == 0 && convolution.channels % convolution.groups == 0, "Conv",
         "the channels do not split into its groups");
  const std::int64_t group_channels = shape[1] / convolution.groups;
  std::vector<int> inputs = {x,
                             Weight("Conv.weight", {convolution.channels, group_channels, kernel_height, kernel_width},
                                    group_channels * kernel_height * kernel_width, convolution.gain)};
  if (convolution.bias) inputs.push_back(UniformWeight("Conv.bias", {convolution.channels}, -0.1, 0.1));
  const auto [end_height, end_width] = convolution.pad_end.value_or(convolution.pad);
  const auto [dilation_height, dilation_width] = convolution.dilation;
  return AddNode(
      "Conv", inputs,
      {shape[0], convolution.channels,
       Positions(shape[2] + pad_height + end_height, dilation_height * (kernel_height - 1) + 1, convolution.stride),
       Positions(shape[3] + pad_width + end_width, dilation_width * (kernel_width - 1) + 1, convolution.stride)},
      {{"dilations", Ints{dilation_height, dilation_width}},
       {"group", convolution.groups},
       {"kernel_shape", Ints{kernel_height, kernel_width}},
       {"pads", Ints{pad_height, pad_width, end_height, end_width}},
       {"strides", Ints{convolution.stride, convolution.stride}}});
}

int ModelBuilder::BatchNormalization(int x) {
  const Shape shape = ShapeOf(x);
  const std::int64_t channels = shape.at(1);
  const int scale = UniformWeight("BatchNormalization.scale", {channels}, 0.8, 1.2);
  const int shift = UniformWeight("BatchNormalization.bias", {channels}, -0.1, 0.1);
  const int mean = UniformWeight("BatchNormalization.mean", {channels}, -0.1, 0.1);
  const int variance = UniformWeight("BatchNormalization.variance", {channels}, 0.8, 1.2);
  return AddNode("BatchNormalization", {x, scale, shift, mean, variance}, shape, {{"epsilon", 1e-5F}});
}

int ModelBuilder::Pool(const std::string& op_type, int x, const Pooling& pooling, Attributes attributes) {
  const Shape shape = ShapeOf(x);
  Expect(shape.size() == 4, op_type.c_str(), "its input has no four dimensions");
  attributes["kernel_shape"] = Ints{pooling.kernel, pooling.kernel};
  attributes["pads"] = Ints{pooling.pad, pooling.pad, pooling.pad, pooling.pad};
  attributes["strides"] = Ints{pooling.stride, pooling.stride};
  return AddNode(op_type, {x},
                 {shape[0], shape[1], Positions(shape[2] + 2 * pooling.pad, pooling.kernel, pooling.stride),
                  Positions(shape[3] + 2 * pooling.pad, pooling.kernel, pooling.stride)},
                 std::move(attributes));
}

int ModelBuilder::MaxPool(int x, const Pooling& pooling) { return Pool("MaxPool", x, pooling, {}); }

int ModelBuilder::AveragePool(int x, const Pooling& pooling) {
  return Pool("AveragePool", x, pooling, {{"count_include_pad", std::int64_t{1}}});
}

int ModelBuilder::GlobalAveragePool(int x) {
  const Shape shape = ShapeOf(x);
  Expect(shape.size() == 4, "GlobalAveragePool", "its input has no four dimensions");
  return AddNode("GlobalAveragePool", {x}, {shape[0], shape[1], 1, 1});
}

int ModelBuilder::Gemm(int x, std::int64_t features, double gain) {
  const Shape shape = ShapeOf(x);
  Expect(shape.size() == 2, "Gemm", "its input is no matrix");
  const int weight = Weight("Gemm.weight", {features, shape[1]}, shape[1], gain);
  const int bias = UniformWeight("Gemm.bias", {features}, -0.1, 0.1);
  return AddNode("Gemm", {x, weight, bias}, {shape[0], features}, {{"transB", std::int64_t{1}}});
}

int ModelBuilder::Linear(int x, std::int64_t features, double gain) {
  const std::int64_t before = ShapeOf(x).back();
  const int product = MatMul(x, Weight("MatMul.weight", {before, features}, before, gain));
  return Add(product, UniformWeight("Add.bias", {features}, -0.1, 0.1));
}

int ModelBuilder::MatMul(int a, int b) {
  const Shape left = ShapeOf(a);
  const Shape right = ShapeOf(b);
  Expect(left.size() >= 2 && right.size() >= 2, "MatMul", "it multiplies matrices");
  Expect(left.back() == right[right.size() - 2], "MatMul", "the inner dimensions differ");
  Shape shape = Broadcast(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2));
  shape.push_back(left[left.size() - 2]);
  shape.push_back(right.back());
  return AddNode("MatMul", {a, b}, shape);
}

int ModelBuilder::Elementwise(const std::string& op_type, int x) { return AddNode(op_type, {x}, ShapeOf(x)); }

int ModelBuilder::Elementwise(const std::string& op_type, int a, int b) {
  return AddNode(op_type, {a, b}, Broadcast(ShapeOf(a), ShapeOf(b)));
}

int ModelBuilder::Clip(int x, float least, float most) {
  const int low = Scalar("Clip.min", least);
  const int high = Scalar("Clip.max", most);
  return AddNode("Clip", {x, low, high}, ShapeOf(x));
}

int ModelBuilder::Concat(const std::vector<int>& parts, std::int64_t axis) {
  Shape shape = ShapeOf(parts.at(0));
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const Shape& other = ShapeOf(parts[part]);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      Expect(other.size() == shape.size() && (static_cast<std::int64_t>(i) == axis || other[i] == shape[i]), "Concat",
             "its inputs differ in a dimension that it does not join");
    }
    shape[static_cast<std::size_t>(axis)] += other[static_cast<std::size_t>(axis)];
  }
  return AddNode("Concat", parts, shape, {{"axis", axis}});
}

int ModelBuilder::Softmax(int x) { return AddNode("Softmax", {x}, ShapeOf(x), {{"axis", std::int64_t{-1}}}); }

int ModelBuilder::Reshape(int x, const Shape& shape) {
  Expect(ElementsOf(shape) == ElementsOf(ShapeOf(x)), "Reshape", "it would change the number of elements");
  return AddNode("Reshape", {x, Integers("Reshape.shape", shape)}, shape);
}

int ModelBuilder::Transpose(int x, const std::vector<std::int64_t>& permutation) {
  const Shape before = ShapeOf(x);
  Shape shape;
  for (const std::int64_t axis : permutation) shape.push_back(before.at(static_cast<std::size_t>(axis)));
  return AddNode("Transpose", {x}, shape, {{"perm", permutation}});
}

int ModelBuilder::Flatten(int x) {
  const Shape shape = ShapeOf(x);
  return AddNode("Flatten", {x}, {shape.at(0), ElementsOf(shape) / shape[0]}, {{"axis", std::int64_t{1}}});
}

int ModelBuilder::Squeeze(int x, std::int64_t axis) {
  Shape shape = ShapeOf(x);
  Expect(shape.at(static_cast<std::size_t>(axis)) == 1, "Squeeze", "the dimension is not 1");
  shape.erase(shape.begin() + axis);
  return AddNode("Squeeze", {x, Integers("Squeeze.axes", {axis})}, shape);
}

int ModelBuilder::StopGradient(int x) {
  const int y = Elementwise("Identity", x);
  model_.nodes.back().name = NextName("stop_gradient");
  return y;
}

int ModelBuilder::Slice(int x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  Shape shape = ShapeOf(x);
  Expect(0 <= begin && begin < end && end <= shape.at(static_cast<std::size_t>(axis)), "Slice", "it is out of range");
  shape[static_cast<std::size_t>(axis)] = end - begin;
  const int begins = Integers("Slice.starts", {begin});
  const int ends = Integers("Slice.ends", {end});
  return AddNode("Slice", {x, begins, ends, Integers("Slice.axes", {axis})}, shape);
}

int ModelBuilder::Pad(int x, std::int64_t axis, std::int64_t before, std::int64_t after) {
  Shape shape = ShapeOf(x);
  std::vector<std::int64_t> pads(2 * shape.size(), 0);
  pads.at(static_cast<std::size_t>(axis)) = before;
  pads.at(shape.size() + static_cast<std::size_t>(axis)) = after;
  shape[static_cast<std::size_t>(axis)] += before + after;
  return AddNode("Pad", {x, Integers("Pad.pads", pads)}, shape);
}

std::vector<int> ModelBuilder::Split(int x, std::int64_t axis, std::int64_t parts) {
  Shape shape = ShapeOf(x);
  std::int64_t& size = shape.at(static_cast<std::size_t>(axis));
  Expect(size % parts == 0, "Split", "the dimension does not split into equal parts");
  size /= parts;
  BeginNode("Split", {x}, {{"axis", axis}});
  std::vector<int> pieces;
  pieces.reserve(static_cast<std::size_t>(parts));
  for (std::int64_t part = 0; part < parts; ++part) pieces.push_back(AddOutput(shape));
  return pieces;
}

int ModelBuilder::Gather(int x, int indices, std::int64_t axis) {
  const Shape before = ShapeOf(x);
  const Shape& rows = ShapeOf(indices);
  Shape shape(before.begin(), before.begin() + axis);
  shape.insert(shape.end(), rows.begin(), rows.end());
  shape.insert(shape.end(), before.begin() + axis + 1, before.end());
  return AddNode("Gather", {x, indices}, shape, {{"axis", axis}});
}

int ModelBuilder::ReduceMean(int x) {
  Shape shape = ShapeOf(x);
  shape.back() = 1;
  return AddNode("ReduceMean", {x}, shape, {{"axes", Ints{-1}}, {"keepdims", std::int64_t{1}}});
}

int ModelBuilder::LayerNormalization(int x, bool split) {
  const Shape shape = ShapeOf(x);
  const int scale = UniformWeight("LayerNormalization.scale", {shape.back()}, 0.8, 1.2);
  const int shift = UniformWeight("LayerNormalization.bias", {shape.back()}, -0.1, 0.1);
  if (!split) return LayerNormalization(x, scale, shift);
  const int centred = Elementwise("Sub", x, ReduceMean(x));
  const int variance = ReduceMean(Elementwise("Pow", centred, Scalar("Pow.exponent", 2)));
  const int deviation = Elementwise("Sqrt", Add(variance, Scalar("Add.epsilon", 1e-12F)));
  const int normal = Elementwise("Div", centred, deviation);
  return Add(Elementwise("Mul", normal, scale), shift);
}

int ModelBuilder::LayerNormalization(int x, int scale, int shift) {
  return AddNode("LayerNormalization", {x, scale, shift}, ShapeOf(x),
                 {{"axis", std::int64_t{-1}}, {"epsilon", 1e-12F}});
}

LstmWeights ModelBuilder::MakeLstmWeights(std::int64_t features, std::int64_t hidden) {
  LstmWeights weights;
  weights.hidden = hidden;
  weights.input = Weight("LSTM.W", {1, 4 * hidden, features}, features, kLinearGain);
  weights.recurrent = Weight("LSTM.R", {1, 4 * hidden, hidden}, hidden, kLinearGain);
  weights.bias = UniformWeight("LSTM.B", {1, 8 * hidden}, -0.1, 0.1);
  return weights;
}

LstmOutputs ModelBuilder::Lstm(int x, const LstmWeights& weights, const std::optional<LstmOutputs>& before,
                               bool state) {
  const Shape shape = ShapeOf(x);
  Expect(shape.size() == 3, "LSTM", "its input is not sequence x batch x features");
  std::vector<int> inputs = {x, weights.input, weights.recurrent, weights.bias};
  if (before) inputs.insert(inputs.end(), {-1, before->hidden, before->cell});
  BeginNode("LSTM", inputs, {{"hidden_size", weights.hidden}});
  LstmOutputs outputs;
  outputs.sequence = AddOutput({shape[0], 1, shape[1], weights.hidden});
  if (!state) return outputs;
  outputs.hidden = AddOutput({1, shape[1], weights.hidden});
  outputs.cell = AddOutput({1, shape[1], weights.hidden});
  return outputs;
}

}  // namespace millrace
