// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/model_flops.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "millrace/formats/onnx_einsum.h"

namespace millrace {
namespace {

double Elements(const Shape& shape) {
  double elements = 1;
  for (const std::int64_t dimension : shape) elements *= static_cast<double>(dimension);
  return elements;
}

// What a formula sees of a node.
class View {
 public:
  View(const Model& model, const Node& node) : model_(model), node_(node) {}

  const Node& node() const { return node_; }
  const Shape* Input(std::size_t i) const { return At(node_.inputs, i); }
  const Shape* Output(std::size_t i) const { return At(node_.outputs, i); }
  double InputElements(std::size_t i) const { return Input(i) == nullptr ? 0 : Elements(*Input(i)); }

  double Made() const {
    double elements = 0;
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) elements += Output(i) == nullptr ? 0 : Elements(*Output(i));
    return elements;
  }

  double First() const { return Output(0) == nullptr ? Made() : Elements(*Output(0)); }

  double BytesOfIds(const std::vector<int>& ids, std::size_t begin = 0) const {
    double bytes = 0;
    for (std::size_t i = begin; i < ids.size(); ++i) {
      if (ids[i] < 0) continue;
      const Value& value = model_.values[static_cast<std::size_t>(ids[i])];
      bytes += Elements(value.shape) * static_cast<double>(BytesOf(value.type));
    }
    return bytes;
  }

 private:
  const Shape* At(const std::vector<int>& ids, std::size_t i) const {
    if (i >= ids.size() || ids[i] < 0) return nullptr;
    return &model_.values[static_cast<std::size_t>(ids[i])].shape;
  }

  const Model& model_;
  const Node& node_;
};

// Each output element takes one multiply-add per weight of its filter: the weights' elements but their first
// dimension. Counts border positions as if they were whole.
double ConvolutionWith(const View& view, std::size_t weights_at, std::size_t bias_at) {
  const Shape* weights = view.Input(weights_at);
  if (weights == nullptr || weights->empty() || weights->front() == 0) return view.First();
  const double per_element = 2 * Elements(*weights) / static_cast<double>(weights->front());
  return view.First() * (per_element + (view.Input(bias_at) == nullptr ? 0 : 1));
}

double Convolution(const View& view) { return ConvolutionWith(view, 1, 2); }
double QuantisedConvolution(const View& view) { return ConvolutionWith(view, 3, 8); }

// Each input element is spread over the filters of its channel.
double TransposedConvolution(const View& view) {
  const Shape* weights = view.Input(1);
  if (weights == nullptr || weights->empty() || weights->front() == 0) return view.First();
  const double per_element = 2 * Elements(*weights) / static_cast<double>(weights->front());
  return view.InputElements(0) * per_element + (view.Input(2) == nullptr ? 0 : view.First());
}

double MatrixProduct(const View& view) {
  const Shape* left = view.Input(0);
  if (left == nullptr || left->empty()) return view.First();
  return 2 * view.First() * static_cast<double>(left->back());
}

double Gemm(const View& view) {
  const Shape* left = view.Input(0);
  if (left == nullptr || left->size() != 2) return view.First();
  const bool transposed = Model::IntOf(view.node(), "transA", 0) != 0;
  const double depth = static_cast<double>((*left)[transposed ? 0 : 1]);
  return view.First() * (2 * depth + (view.Input(2) == nullptr ? 0 : 1));
}

// Per step and direction: `gates` products with the input's and the hidden state's weights, and the gates themselves.
double Recurrent(const View& view, double gates) {
  const Shape* input = view.Input(0);
  const Shape* weights = view.Input(1);
  const Shape* recurrence = view.Input(2);
  if (input == nullptr || weights == nullptr || recurrence == nullptr || input->size() != 3) return view.Made();
  const double steps = static_cast<double>((*input)[0]) * static_cast<double>((*input)[1]);
  const double hidden = recurrence->empty() ? 0 : static_cast<double>(recurrence->back());
  const double directions = weights->empty() ? 1 : static_cast<double>(weights->front());
  constexpr double kPerGate = 5;  // bias, activation, and its part in the new state
  return steps * (2 * Elements(*weights) + 2 * Elements(*recurrence) + directions * gates * hidden * kPerGate);
}

double Pool(const View& view) {
  double window = 1;
  for (const std::int64_t extent : Model::IntsOf(view.node(), "kernel_shape", {})) {
    window *= static_cast<double>(extent);
  }
  return view.First() * window;
}

double LocalResponse(const View& view) {
  return view.First() * (2 * static_cast<double>(Model::IntOf(view.node(), "size", 1)) + 4);
}

// A multiply-add per factor beyond the first for every combination of all letters.
double Einsum(const View& view) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; view.Input(i) != nullptr; ++i) shapes.push_back(*view.Input(i));
  const auto labels = LabelsOfEinsum(Model::StringOf(view.node(), "equation", ""), shapes);
  if (!labels) return view.First();
  double combinations = 1;
  for (const std::int64_t extent : labels->extents) combinations *= static_cast<double>(extent);
  return shapes.size() == 1 ? combinations : 2 * combinations * static_cast<double>(shapes.size() - 1);
}

using Formula = std::function<double(const View&)>;

Formula PerOutput(double flops) {
  return [flops](const View& view) { return flops * view.First(); };
}

Formula PerInput(double flops) {
  return [flops](const View& view) { return flops * view.InputElements(0); };
}

const std::unordered_map<std::string, Formula>& Formulas() {
  static const std::unordered_map<std::string, Formula> kFormulas = [] {
    std::unordered_map<std::string, Formula> formulas = {
        {"Conv", Convolution},
        {"ConvInteger", Convolution},
        {"ConvTranspose", TransposedConvolution},
        {"MatMul", MatrixProduct},
        {"MatMulInteger", MatrixProduct},
        {"QLinearConv", QuantisedConvolution},
        {"QLinearMatMul", MatrixProduct},
        {"com.microsoft.QGemm", MatrixProduct},
        {"com.microsoft.QLinearAdd", PerOutput(4)},
        {"Gemm", Gemm},
        {"Einsum", Einsum},
        {"LSTM", [](const View& view) { return Recurrent(view, 4); }},
        {"GRU", [](const View& view) { return Recurrent(view, 3); }},
        {"RNN", [](const View& view) { return Recurrent(view, 1); }},
        {"MaxPool", Pool},
        {"AveragePool", Pool},
        {"com.microsoft.QLinearAveragePool", Pool},
        {"LpPool", Pool},
        {"LRN", LocalResponse},
        {"BatchNormalization", PerOutput(2)},
        {"InstanceNormalization", PerOutput(8)},
        {"GroupNormalization", PerOutput(8)},
        {"LayerNormalization", PerOutput(8)},
        {"Softmax", PerOutput(5)},
        {"LogSoftmax", PerOutput(5)},
        {"Sigmoid", PerOutput(4)},
        {"Tanh", PerOutput(4)},
        {"Erf", PerOutput(8)},
        {"Gelu", PerOutput(10)},
        {"Mish", PerOutput(10)},
        {"Elu", PerOutput(3)},
        {"HardSigmoid", PerOutput(4)},
        {"HardSwish", PerOutput(5)},
        {"Softplus", PerOutput(4)},
        {"LeakyRelu", PerOutput(2)},
        {"Clip", PerOutput(2)},
    };
    for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "ReduceMean", "ReduceSum", "ReduceMax",
                           "ReduceMin", "ReduceProd", "ArgMax", "ArgMin", "CumSum", "TopK"}) {
      formulas.emplace(op, PerInput(1));
    }
    for (const char* op : {"ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
      formulas.emplace(op, PerInput(2));
    }
    for (const char* op : {"Sum", "Max", "Min", "Mean"}) {
      formulas.emplace(op, [](const View& view) {
        return view.First() * static_cast<double>(std::max<std::size_t>(view.node().inputs.size(), 2) - 1);
      });
    }
    for (const char* op :
         {"Cast",         "CenterCropPad",   "Compress",     "Concat",          "Constant",  "ConstantOfShape",
          "DepthToSpace", "Dropout",         "Expand",       "Flatten",         "Gather",    "GatherElements",
          "GatherND",     "Identity",        "NonZero",      "OneHot",          "Pad",       "Range",
          "Reshape",      "ReverseSequence", "Scatter",      "ScatterElements", "ScatterND", "Shape",
          "Size",         "Slice",           "SpaceToDepth", "Split",           "Squeeze",   "Tile",
          "Transpose",    "Trilu",           "Unsqueeze"}) {
      formulas.emplace(op, PerOutput(0));
    }
    return formulas;
  }();
  return kFormulas;
}

}  // namespace

double FlopsOf(const Model& model, const Node& node) {
  const View view(model, node);
  const auto found = Formulas().find(node.domain.empty() ? node.op_type : node.domain + "." + node.op_type);
  if (found != Formulas().end()) return found->second(view);
  return node.domain.empty() ? view.First() : view.Made();
}

std::optional<double> BytesAccessedBy(const Model& model, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  const View view(model, node);
  const std::string& op = node.op_type;
  if (op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze" || op == "Identity" ||
      (op == "Dropout" && view.Output(1) == nullptr)) {
    return 0;
  }
  if (op == "Shape" || op == "Size") return view.BytesOfIds(node.outputs);
  if (op == "Gather" || op == "GatherElements" || op == "GatherND" || op == "Slice") {
    return 2 * view.BytesOfIds(node.outputs) + view.BytesOfIds(node.inputs, 1);
  }
  return std::nullopt;
}

}  // namespace millrace
