// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/formats/model.h"

// Writing a network down op by op. Each method adds one node, infers its output's shape and returns the output's value
// id. Operators follow opsets 13 to 17 of ONNX.
namespace millrace {

// Where weights come from. Each is uniform around 0, its width set by its fan-in, from a stream of its own.
struct WeightSource {
  std::uint64_t seed = 0;
  bool draw = true;  // false: each weight is one number, repeated
};

// What keeps the mean square of a signal through a layer: 1 for a linear one, sqrt(2) where a Relu follows (He et al.,
// "Delving deep into rectifiers", 2015).
inline constexpr double kLinearGain = 1.0;
inline constexpr double kReluGain = 1.4142135623730951;

struct Convolution {
  std::int64_t channels = 0;  // it makes
  std::array<std::int64_t, 2> kernel = {1, 1};
  std::int64_t stride = 1;
  std::array<std::int64_t, 2> pad = {0, 0};              // on both sides, height and width
  std::optional<std::array<std::int64_t, 2>> pad_end{};  // behind, where that differs
  std::array<std::int64_t, 2> dilation = {1, 1};
  std::int64_t groups = 1;
  double gain = kReluGain;
  bool bias = true;
};

struct Pooling {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
};

struct LstmWeights {
  int input = -1;      // 1 x 4 hidden x features
  int recurrent = -1;  // 1 x 4 hidden x hidden
  int bias = -1;       // 1 x 8 hidden
  std::int64_t hidden = 0;
};

struct LstmOutputs {
  int sequence = -1;  // steps x 1 x batch x hidden
  int hidden = -1;    // 1 x batch x hidden, after the last step
  int cell = -1;
};

class ModelBuilder {
 public:
  ModelBuilder(std::string name, std::int64_t opset, WeightSource weights);

  // Nodes from here on belong to stage `layer` and carry `name` in front of their own.
  void BeginStage(int layer, std::string name);

  int Input(const std::string& name, DataType type, Shape shape);
  void Output(int value, const std::string& name);

  // Throws InvalidInput where the weights pass 16 GiB together, or are drawn and pass 2 GB, more than ONNX files hold.
  int Weight(const std::string& role, Shape shape, std::int64_t fan_in, double gain);
  int UniformWeight(const std::string& role, Shape shape, double low, double high);
  int Scalar(const std::string& role, float value);
  int Integers(const std::string& role, const std::vector<std::int64_t>& values);

  int Conv(int x, const Convolution& convolution);
  int BatchNormalization(int x);
  int MaxPool(int x, const Pooling& pooling);
  int AveragePool(int x, const Pooling& pooling);  // the padding counts as zeros
  int GlobalAveragePool(int x);
  int Gemm(int x, std::int64_t features, double gain);    // on rows of a matrix, with bias
  int Linear(int x, std::int64_t features, double gain);  // MatMul and Add, on the last dimension
  int MatMul(int a, int b);
  int Elementwise(const std::string& op_type, int x);         // Relu, Erf, Tanh, Sigmoid, Sqrt
  int Elementwise(const std::string& op_type, int a, int b);  // Add, Sub, Mul, Div, Pow, with broadcasting
  int Relu(int x) { return Elementwise("Relu", x); }
  int Add(int a, int b) { return Elementwise("Add", a, b); }
  int Clip(int x, float least, float most);
  int Concat(const std::vector<int>& parts, std::int64_t axis);
  int Softmax(int x);  // over the last dimension
  int Reshape(int x, const Shape& shape);
  int Transpose(int x, const std::vector<std::int64_t>& permutation);
  int Flatten(int x);  // all but the first dimension become one
  int Squeeze(int x, std::int64_t axis);
  int StopGradient(int x);  // an Identity that training graphs take nothing back through
  int Slice(int x, std::int64_t axis, std::int64_t begin, std::int64_t end);
  int Pad(int x, std::int64_t axis, std::int64_t before, std::int64_t after);  // with zeros
  std::vector<int> Split(int x, std::int64_t axis, std::int64_t parts);        // equal ones
  int Gather(int x, int indices, std::int64_t axis);
  int ReduceMean(int x);                              // over the last dimension, which stays with size 1
  int LayerNormalization(int x, bool split = false);  // over the last dimension, with scale and shift
  int LayerNormalization(int x, int scale, int shift);
  LstmWeights MakeLstmWeights(std::int64_t features, std::int64_t hidden);
  // `before` hands on the state of an earlier part of the sequence.
  LstmOutputs Lstm(int x, const LstmWeights& weights, const std::optional<LstmOutputs>& before, bool state);

  const Shape& ShapeOf(int value) const { return model_.values[static_cast<std::size_t>(value)].shape; }

  Model Finish();

 private:
  using Attributes = std::map<std::string, Attribute>;

  std::string NextName(const std::string& what);
  int AddValue(Value value);
  int AddConstant(const std::string& role, std::shared_ptr<const ConstantData> data);
  void BeginNode(std::string op_type, std::vector<int> inputs, Attributes attributes);
  int AddOutput(Shape shape);  // of the node just begun
  int AddNode(std::string op_type, std::vector<int> inputs, Shape shape, Attributes attributes = {});
  int Pool(const std::string& op_type, int x, const Pooling& pooling, Attributes attributes);

  Model model_;
  WeightSource weights_;
  std::optional<int> layer_;
  std::string stage_;
  std::map<std::string, int> names_;  // how often each was asked for
  std::uint64_t drawn_ = 0;           // weights so far
  std::uint64_t weight_bytes_ = 0;
};

}  // namespace millrace
