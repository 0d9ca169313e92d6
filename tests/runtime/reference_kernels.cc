// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/reference_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace millrace::testing {
namespace {

struct Array {
  Shape shape;
  std::vector<double> values;

  explicit Array(Shape of) : shape(std::move(of)), values(static_cast<std::size_t>(ElementsOf(shape)), 0.0) {}
};

Array FromTensor(const TensorData& tensor) {
  Array array(tensor->shape());
  const std::vector<float> floats = tensor->AsFloats();
  std::copy(floats.begin(), floats.end(), array.values.begin());
  return array;
}

// Calls `visit` with every index of `shape`, in row-major order.
void ForEachIndex(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape index(shape.size(), 0);
  for (std::int64_t count = ElementsOf(shape); count > 0; --count) {
    visit(index);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

std::size_t At(const Shape& shape, const Shape& index) {
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) at = at * shape[axis] + index[axis];
  return static_cast<std::size_t>(at);
}

// The element that broadcasting puts at `index` of a tensor of higher or equal rank.
double Broadcast(const Array& array, const Shape& index) {
  Shape own(array.shape.size());
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    const std::int64_t wanted = index[axis + index.size() - own.size()];
    own[axis] = array.shape[axis] == 1 ? 0 : wanted;
  }
  return array.values[At(array.shape, own)];
}

struct Pads {
  Shape begin, strides, dilations;
};

Pads PadsOf(const Node& node, const Shape& spatial, const Shape& kernel) {
  const std::size_t axes = spatial.size();
  Pads pads;
  pads.strides = Model::IntsOf(node, "strides", Shape(axes, 1));
  pads.dilations = Model::IntsOf(node, "dilations", Shape(axes, 1));
  const Shape given = Model::IntsOf(node, "pads", Shape(2 * axes, 0));
  pads.begin.assign(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(axes));
  const std::string automatic = Model::StringOf(node, "auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic == "VALID") return pads;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t output = (spatial[i] + pads.strides[i] - 1) / pads.strides[i];
    const std::int64_t extent = (kernel[i] - 1) * pads.dilations[i] + 1;
    const std::int64_t total = std::max<std::int64_t>(0, (output - 1) * pads.strides[i] + extent - spatial[i]);
    pads.begin[i] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return pads;
}

// Calls `visit` with the index (n, c, spatial...) of every input element under the window at `output`, and its place in
// the kernel; elements in the padding are left out.
void ForEachInWindow(const Shape& input, const Pads& pads, const Shape& kernel, const Shape& output,
                     std::int64_t channel, const std::function<void(const Shape&, const Shape&)>& visit) {
  Shape index(input.size());
  index[0] = output[0];
  index[1] = channel;
  ForEachIndex(kernel, [&](const Shape& offset) {
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::int64_t at = output[i + 2] * pads.strides[i] - pads.begin[i] + offset[i] * pads.dilations[i];
      if (at < 0 || at >= input[i + 2]) return;
      index[i + 2] = at;
    }
    visit(index, offset);
  });
}

Array Convolve(const Node& node, const std::vector<Array>& inputs, const Shape& shape) {
  const Array& source = inputs[0];
  const Array& weights = inputs[1];
  const Shape kernel(weights.shape.begin() + 2, weights.shape.end());
  const Pads pads = PadsOf(node, Shape(source.shape.begin() + 2, source.shape.end()), kernel);
  const std::int64_t groups = Model::IntOf(node, "group", 1);
  Array result(shape);
  ForEachIndex(shape, [&](const Shape& index) {
    const std::int64_t group = index[1] / (shape[1] / groups);
    double sum = inputs.size() > 2 ? inputs[2].values[static_cast<std::size_t>(index[1])] : 0;
    for (std::int64_t c = 0; c < weights.shape[1]; ++c) {
      const double* const filter = weights.values.data() + (index[1] * weights.shape[1] + c) * ElementsOf(kernel);
      ForEachInWindow(source.shape, pads, kernel, index, group * weights.shape[1] + c,
                      [&](const Shape& from, const Shape& offset) {
                        sum += source.values[At(source.shape, from)] * filter[At(kernel, offset)];
                      });
    }
    result.values[At(shape, index)] = sum;
  });
  return result;
}

Array Pool(const Node& node, const Array& source, const Shape& shape) {
  const bool global = node.op_type.starts_with("Global");
  const Shape spatial(source.shape.begin() + 2, source.shape.end());
  const Shape kernel = global ? spatial : Model::IntsOf(node, "kernel_shape", {});
  const Pads pads = PadsOf(node, spatial, kernel);
  const bool maximum = node.op_type == "MaxPool" || node.op_type == "GlobalMaxPool";
  const bool counts_padding = Model::IntOf(node, "count_include_pad", 0) != 0;
  Array result(shape);
  ForEachIndex(shape, [&](const Shape& index) {
    double sum = 0, largest = -std::numeric_limits<double>::infinity();
    std::int64_t seen = 0;
    ForEachInWindow(source.shape, pads, kernel, index, index[1], [&](const Shape& from, const Shape&) {
      const double value = source.values[At(source.shape, from)];
      sum += value;
      largest = std::max(largest, value);
      ++seen;
    });
    if (counts_padding) seen = ElementsOf(kernel);
    result.values[At(shape, index)] = maximum ? largest : sum / static_cast<double>(seen);
  });
  return result;
}

Array Multiply(const Node& node, const std::vector<Array>& inputs, const Shape& shape) {
  Array left = inputs[0];
  Array right = inputs[1];
  const bool gemm = node.op_type == "Gemm";
  const bool left_turned = gemm && Model::IntOf(node, "transA", 0) != 0;
  const bool right_turned = gemm && Model::IntOf(node, "transB", 0) != 0;
  const double alpha = gemm ? Model::FloatOf(node, "alpha", 1) : 1;
  const double beta = gemm ? Model::FloatOf(node, "beta", 1) : 1;
  Shape full = shape;
  if (right.shape.size() == 1) full.push_back(1), right.shape.push_back(1);
  if (left.shape.size() == 1) full.insert(full.end() - 1, 1), left.shape.insert(left.shape.begin(), 1);
  const std::int64_t inner = left_turned ? left.shape[0] : left.shape.back();
  Array result(shape);
  std::size_t at = 0;
  ForEachIndex(full, [&](const Shape& index) {
    double sum = 0;
    for (std::int64_t k = 0; k < inner; ++k) {
      Shape from_left = index, from_right = index;
      from_left.back() = k;
      if (left_turned) std::swap(from_left[0], from_left[1]);
      from_right[from_right.size() - 2] = k;
      if (right_turned) std::swap(from_right[0], from_right[1]);
      sum += Broadcast(left, from_left) * Broadcast(right, from_right);
    }
    result.values[at] = alpha * sum;
    if (gemm && inputs.size() > 2) result.values[at] += beta * Broadcast(inputs[2], index);
    ++at;
  });
  return result;
}

std::function<double(double)> UnaryOf(const Node& node, const std::vector<Array>& inputs) {
  const std::string& type = node.op_type;
  const double alpha = type == "HardSigmoid" ? Model::FloatOf(node, "alpha", 0.2f)
                       : type == "LeakyRelu" ? Model::FloatOf(node, "alpha", 0.01f)
                       : type == "Selu"      ? Model::FloatOf(node, "alpha", 1.67326319217681884765625f)
                                             : Model::FloatOf(node, "alpha", 1);
  if (type == "Relu") return [](double x) { return std::max(x, 0.0); };
  if (type == "LeakyRelu") return [alpha](double x) { return x < 0 ? alpha * x : x; };
  if (type == "Elu") return [alpha](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
  if (type == "Selu") {
    const double gamma = Model::FloatOf(node, "gamma", 1.05070102214813232421875f);
    return [alpha, gamma](double x) { return gamma * (x < 0 ? alpha * std::expm1(x) : x); };
  }
  if (type == "Sigmoid") return [](double x) { return 1 / (1 + std::exp(-x)); };
  if (type == "Tanh") return [](double x) { return std::tanh(x); };
  if (type == "Softplus") return [](double x) { return std::log1p(std::exp(x)); };
  if (type == "Erf") return [](double x) { return std::erf(x); };
  if (type == "HardSwish") return [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); };
  if (type == "HardSigmoid") {
    const double beta = Model::FloatOf(node, "beta", 0.5f);
    return [alpha, beta](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); };
  }
  if (type == "Identity" || type == "Dropout") return [](double x) { return x; };
  if (type == "Clip") {
    double low = Model::FloatOf(node, "min", -1e30f), high = Model::FloatOf(node, "max", 1e30f);
    if (inputs.size() > 1) low = inputs[1].values.at(0);
    if (inputs.size() > 2) high = inputs[2].values.at(0);
    return [low, high](double x) { return std::clamp(x, low, high); };
  }
  return nullptr;
}

std::function<double(double, double)> BinaryOf(const std::string& type) {
  if (type == "Add" || type == "Sum") return [](double a, double b) { return a + b; };
  if (type == "Sub") return [](double a, double b) { return a - b; };
  if (type == "Mul") return [](double a, double b) { return a * b; };
  if (type == "Div") return [](double a, double b) { return a / b; };
  return nullptr;
}

Array Normalize(const Node& node, const std::vector<Array>& inputs) {
  const Array& source = inputs[0];
  const double epsilon = Model::FloatOf(node, "epsilon", 1e-5f);
  Array result(source.shape);
  const std::int64_t channels = source.shape[1];
  const std::int64_t pixels = ElementsOf(source.shape) / source.shape[0] / channels;
  for (std::int64_t at = 0; at < ElementsOf(source.shape); ++at) {
    const auto channel = static_cast<std::size_t>(at / pixels % channels);
    double mean = 0, variance = 0;
    if (node.op_type == "BatchNormalization") {
      mean = inputs[3].values[channel];
      variance = inputs[4].values[channel];
    } else {
      const auto begin = source.values.begin() + at / pixels * pixels;
      for (auto i = begin; i < begin + pixels; ++i) mean += *i / static_cast<double>(pixels);
      for (auto i = begin; i < begin + pixels; ++i) variance += (*i - mean) * (*i - mean) / static_cast<double>(pixels);
    }
    result.values[static_cast<std::size_t>(at)] = (source.values[static_cast<std::size_t>(at)] - mean) /
                                                      std::sqrt(variance + epsilon) * inputs[1].values[channel] +
                                                  inputs[2].values[channel];
  }
  return result;
}

Array NormalizeLayer(const Node& node, const std::vector<Array>& inputs) {
  Array result = inputs[0];
  std::int64_t axis = Model::IntOf(node, "axis", -1);
  if (axis < 0) axis += static_cast<std::int64_t>(result.shape.size());
  const Shape tail(result.shape.begin() + axis, result.shape.end());
  const auto inner = static_cast<std::size_t>(ElementsOf(tail));
  const double epsilon = Model::FloatOf(node, "epsilon", 1e-5f);
  for (std::size_t row = 0; row < result.values.size(); row += inner) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < inner; ++i) mean += result.values[row + i] / static_cast<double>(inner);
    for (std::size_t i = 0; i < inner; ++i)
      variance += std::pow(result.values[row + i] - mean, 2) / static_cast<double>(inner);
    std::size_t i = 0;
    ForEachIndex(tail, [&](const Shape& index) {
      double value = (result.values[row + i] - mean) / std::sqrt(variance + epsilon) * Broadcast(inputs[1], index);
      if (inputs.size() > 2) value += Broadcast(inputs[2], index);
      result.values[row + i++] = value;
    });
  }
  return result;
}

Array NormalizeAcrossChannels(const Node& node, const Array& source) {
  Array result(source.shape);
  const std::int64_t size = Model::IntOf(node, "size", 0);
  const double alpha = Model::FloatOf(node, "alpha", 1e-4f);
  const double beta = Model::FloatOf(node, "beta", 0.75f);
  const double bias = Model::FloatOf(node, "bias", 1);
  ForEachIndex(source.shape, [&](const Shape& index) {
    double squares = 0;
    const std::int64_t first = std::max<std::int64_t>(0, index[1] - (size - 1) / 2);
    const std::int64_t last = std::min(source.shape[1] - 1, index[1] + size / 2);
    Shape at = index;
    for (at[1] = first; at[1] <= last; ++at[1]) squares += std::pow(source.values[At(source.shape, at)], 2);
    const double value = source.values[At(source.shape, index)];
    result.values[At(source.shape, index)] = value / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
  });
  return result;
}

Array SoftmaxOf(const Model& model, const Node& node, const Array& source) {
  const bool old = model.opset < 13;
  std::int64_t axis = Model::IntOf(node, "axis", old ? 1 : -1);
  if (axis < 0) axis += static_cast<std::int64_t>(source.shape.size());
  const Shape before(source.shape.begin(), source.shape.begin() + axis);
  const std::int64_t length = old ? ElementsOf(Shape(source.shape.begin() + axis, source.shape.end()))
                                  : source.shape[static_cast<std::size_t>(axis)];
  const std::int64_t inner = ElementsOf(source.shape) / ElementsOf(before) / length;
  Array result(source.shape);
  for (std::int64_t outer = 0; outer < ElementsOf(before); ++outer) {
    for (std::int64_t i = 0; i < inner; ++i) {
      const auto at = [&](std::int64_t k) { return static_cast<std::size_t>((outer * length + k) * inner + i); };
      double largest = -1e300, sum = 0;
      for (std::int64_t k = 0; k < length; ++k) largest = std::max(largest, source.values[at(k)]);
      for (std::int64_t k = 0; k < length; ++k) sum += std::exp(source.values[at(k)] - largest);
      for (std::int64_t k = 0; k < length; ++k) {
        const double logarithm = source.values[at(k)] - largest - std::log(sum);
        result.values[at(k)] = node.op_type == "LogSoftmax" ? logarithm : std::exp(logarithm);
      }
    }
  }
  return result;
}

Array Concatenate(const Node& node, const std::vector<Array>& inputs, const Shape& shape) {
  std::int64_t axis = Model::IntOf(node, "axis", 1);
  if (axis < 0) axis += static_cast<std::int64_t>(shape.size());
  Array result(shape);
  std::int64_t first = 0;
  for (const Array& input : inputs) {
    ForEachIndex(input.shape, [&](const Shape& index) {
      Shape to = index;
      to[static_cast<std::size_t>(axis)] += first;
      result.values[At(shape, to)] = input.values[At(input.shape, index)];
    });
    first += input.shape[static_cast<std::size_t>(axis)];
  }
  return result;
}

Array Evaluate(const Model& model, const Node& node, const std::vector<Array>& inputs, const Shape& shape) {
  const std::string& type = node.op_type;
  if (type == "Conv") return Convolve(node, inputs, shape);
  if (type == "Gemm" || type == "MatMul") return Multiply(node, inputs, shape);
  if (type.ends_with("Pool")) return Pool(node, inputs[0], shape);
  if (type == "BatchNormalization" || type == "InstanceNormalization") return Normalize(node, inputs);
  if (type == "LayerNormalization") return NormalizeLayer(node, inputs);
  if (type == "LRN") return NormalizeAcrossChannels(node, inputs[0]);
  if (type == "Softmax" || type == "LogSoftmax") return SoftmaxOf(model, node, inputs[0]);
  if (type == "Concat") return Concatenate(node, inputs, shape);
  Array result(shape);
  if (const auto unary = UnaryOf(node, inputs)) {
    std::transform(inputs[0].values.begin(), inputs[0].values.end(), result.values.begin(), unary);
    return result;
  }
  const auto binary = BinaryOf(type);
  if (binary == nullptr) throw std::logic_error("the tests have no slow " + type);
  ForEachIndex(shape, [&](const Shape& index) {
    double value = Broadcast(inputs[0], index);
    for (std::size_t i = 1; i < inputs.size(); ++i) value = binary(value, Broadcast(inputs[i], index));
    result.values[At(shape, index)] = value;
  });
  return result;
}

}  // namespace

std::map<int, TensorData> EvaluateSlowly(const Model& model, const std::map<int, TensorData>& inputs) {
  std::map<int, TensorData> values = inputs;
  for (const Node& node : model.nodes) {
    std::vector<Array> arrays;
    for (const int input : node.inputs) {
      if (input < 0) continue;
      const Value& value = model.values[static_cast<std::size_t>(input)];
      arrays.push_back(FromTensor(value.constant != nullptr ? value.constant : values.at(input)));
    }
    const Shape& shape = model.values[static_cast<std::size_t>(node.outputs[0])].shape;
    const Array result = Evaluate(model, node, arrays, shape);
    values[node.outputs[0]] =
        ConstantData::Floats(shape, std::vector<float>(result.values.begin(), result.values.end()));
  }
  return values;
}

std::map<int, TensorData> RandomInputs(const Model& model, Random& random) {
  std::map<int, TensorData> inputs;
  for (const int value : model.inputs)
    inputs[value] = RandomTensor(random, model.values[static_cast<std::size_t>(value)].shape);
  return inputs;
}

void ExpectGroupMatches(const Model& model, Random& random, double tolerance, const KernelMaker& make) {
  std::vector<int> nodes;
  for (std::size_t node = 0; node < model.nodes.size(); ++node) nodes.push_back(static_cast<int>(node));
  const std::map<int, TensorData> inputs = RandomInputs(model, random);
  const std::map<int, TensorData> expected = EvaluateSlowly(model, inputs);
  for (int workers = 1; workers <= 3; ++workers) {
    for (const Layout available : kLayouts) {
      SCOPED_TRACE(std::to_string(workers) + " workers, layout " + std::to_string(static_cast<int>(available)));
      const std::map<int, TensorData> actual = RunGroup(model, nodes, inputs, {workers, available, make});
      for (const auto& [value, tensor] : actual) ExpectClose(tensor, expected.at(value), tolerance);
    }
  }
}

}  // namespace millrace::testing
