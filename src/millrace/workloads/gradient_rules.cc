// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/gradient_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "millrace/formats/model_flops.h"

namespace millrace {
namespace {

constexpr std::array<std::string_view, 9> kRoles = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};

// A node on its way back, its first output's gradient at hand.
class Rule {
 public:
  Rule(TrainingTape& tape, const Model& model, const Node& node)
      : tape_(tape), model_(model), node_(node), gradient_(tape.GradientOf(node.outputs.front())) {}

  const Node& node() const { return node_; }
  TensorId gradient() const { return gradient_; }
  int input(std::size_t i) const { return i < node_.inputs.size() ? node_.inputs[i] : -1; }
  int output() const { return node_.outputs.front(); }
  bool Wanted(std::size_t i) const { return tape_.Wanted(input(i)); }
  TensorId InputTensor(std::size_t i) const { return tape_.TensorOf(input(i)); }
  TensorId OutputTensor() const { return tape_.TensorOf(output()); }
  const Shape& InputShape(std::size_t i) const { return tape_.ShapeOf(input(i)); }
  const Shape& OutputShape() const { return tape_.ShapeOf(output()); }
  double ElementsOf(std::size_t i) const { return tape_.ElementsOf(input(i)); }
  double SizeOf(std::size_t i) const { return tape_.SizeOf(input(i)); }
  double OutputElements() const { return tape_.ElementsOf(output()); }
  double OutputSize() const { return tape_.SizeOf(output()); }
  double ForwardFlops() const { return FlopsOf(model_, node_); }
  TrainingTape& tape() { return tape_; }

  // One op whose only result is the gradient of input i.
  void Give(std::size_t i, const char* type, double flops, std::vector<TensorId> reads,
            std::optional<double> bytes_accessed = std::nullopt) {
    if (!Wanted(i)) return;
    const std::vector<TensorId> made =
        tape_.Record({type, RoleOf(i), flops, std::move(reads), {SizeOf(i)}, bytes_accessed});
    tape_.Hand(input(i), made.front());
  }

  // The gradient of input i, `full` of the shape of the output, summed over what the input was broadcast along.
  void GiveReduced(std::size_t i, TensorId full) {
    if (ElementsOf(i) == OutputElements()) {
      tape_.Hand(input(i), full);
      return;
    }
    const std::vector<TensorId> made =
        tape_.Record({"ReduceSum", RoleOf(i) + "/sum", OutputElements(), {full}, {SizeOf(i)}, std::nullopt});
    tape_.Hand(input(i), made.front());
  }

  // An op of the output's shape, then the sum.
  void GiveBroadcast(std::size_t i, const char* type, double flops_each, std::vector<TensorId> reads) {
    if (!Wanted(i)) return;
    const std::vector<TensorId> made =
        tape_.Record({type, RoleOf(i), flops_each * OutputElements(), std::move(reads), {OutputSize()}, std::nullopt});
    GiveReduced(i, made.front());
  }

  // One op that gives every input that wants one its gradient.
  void GiveAll(const std::string& type, double flops, std::vector<TensorId> reads) {
    TapeOp op;
    op.type = type;
    op.role = "/grad";
    op.flops = flops;
    op.reads = std::move(reads);
    std::vector<int> given;
    for (const int value : node_.inputs) {
      if (!tape_.Wanted(value)) continue;
      given.push_back(value);
      op.makes.push_back(tape_.SizeOf(value));
    }
    if (given.empty()) return;
    const std::vector<TensorId> made = tape_.Record(op);
    for (std::size_t k = 0; k < given.size(); ++k) tape_.Hand(given[k], made[k]);
  }

  // All outputs' gradients and, after them, what the forward node read and made.
  std::vector<TensorId> Everything() const {
    std::vector<TensorId> tensors;
    for (const int value : node_.outputs) tensors.push_back(tape_.GradientOf(value));
    for (const int value : node_.inputs) tensors.push_back(tape_.TensorOf(value));
    for (const int value : node_.outputs) tensors.push_back(tape_.TensorOf(value));
    return tensors;
  }

  static std::string RoleOf(std::size_t i) {
    return i < kRoles.size() ? std::string("/grad/").append(kRoles[i]) : fmt::format("/grad/{}", i);
  }

 private:
  TrainingTape& tape_;
  const Model& model_;
  const Node& node_;
  TensorId gradient_;
};

// The product of both factors' batches has the output's; a factor of fewer (a weight, which is one matrix) gets its
// sum within the product, where the batch is but more rows, and otherwise by an op.
void FactorOfMatMul(Rule& rule, std::size_t i) {
  if (!rule.Wanted(i)) return;
  const double flops = 2 * rule.OutputElements() * static_cast<double>(rule.InputShape(0).back());
  const std::vector<TensorId> reads = {rule.gradient(), rule.InputTensor(1 - i)};
  const Shape& shape = rule.InputShape(i);
  double batch = 1;
  for (std::size_t axis = 0; axis + 2 < rule.OutputShape().size(); ++axis) {
    batch *= static_cast<double>(rule.OutputShape()[axis]);
  }
  const double matrix = static_cast<double>(shape[shape.size() - 1]) * static_cast<double>(shape[shape.size() - 2]);
  if (rule.ElementsOf(i) == batch * matrix || rule.ElementsOf(i) == matrix) {
    rule.Give(i, "MatMul", flops, reads);
    return;
  }
  const double bytes = rule.SizeOf(i) / rule.ElementsOf(i) * batch * matrix;
  const TensorId product = rule.tape().Record({"MatMul", Rule::RoleOf(i), flops, reads, {bytes}, std::nullopt}).front();
  rule.tape().Hand(
      rule.node().inputs[i],
      rule.tape()
          .Record({"ReduceSum", Rule::RoleOf(i) + "/sum", batch * matrix, {product}, {rule.SizeOf(i)}, std::nullopt})
          .front());
}

void MatMulBack(Rule& rule) {
  FactorOfMatMul(rule, 0);
  FactorOfMatMul(rule, 1);
}

void GemmBack(Rule& rule) {
  const double depth = rule.ElementsOf(0) / static_cast<double>(rule.OutputShape()[0]);
  const double flops = 2 * rule.OutputElements() * depth;
  rule.Give(0, "MatMul", flops, {rule.gradient(), rule.InputTensor(1)});
  rule.Give(1, "MatMul", flops, {rule.gradient(), rule.InputTensor(0)});
  if (rule.Wanted(2)) rule.GiveReduced(2, rule.gradient());
}

void ConvBack(Rule& rule) {
  const double flops = rule.ForwardFlops() - (rule.input(2) >= 0 ? rule.OutputElements() : 0);
  rule.Give(0, "ConvGradInput", flops, {rule.gradient(), rule.InputTensor(1)});
  rule.Give(1, "ConvGradWeight", flops, {rule.gradient(), rule.InputTensor(0)});
  rule.Give(2, "ReduceSum", rule.OutputElements(), {rule.gradient()});
}

void SumBack(Rule& rule) {
  for (std::size_t i = 0; i < rule.node().inputs.size(); ++i) {
    if (rule.Wanted(i)) rule.GiveReduced(i, rule.gradient());
  }
}

void SubBack(Rule& rule) {
  if (rule.Wanted(0)) rule.GiveReduced(0, rule.gradient());
  rule.GiveBroadcast(1, "Neg", 1, {rule.gradient()});
}

void MulBack(Rule& rule) {
  rule.GiveBroadcast(0, "Mul", 1, {rule.gradient(), rule.InputTensor(1)});
  rule.GiveBroadcast(1, "Mul", 1, {rule.gradient(), rule.InputTensor(0)});
}

// Of a / b: g / b, and -g y / b from the quotient y.
void DivBack(Rule& rule) {
  rule.GiveBroadcast(0, "Div", 1, {rule.gradient(), rule.InputTensor(1)});
  rule.GiveBroadcast(1, "DivGrad", 3, {rule.gradient(), rule.OutputTensor(), rule.InputTensor(1)});
}

void ConcatBack(Rule& rule) { rule.GiveAll("Split", 0, {rule.gradient()}); }

// Pieces whose gradient nobody made are zeros.
void SplitBack(Rule& rule) {
  std::vector<TensorId> parts;
  for (const int value : rule.node().outputs) parts.push_back(rule.tape().GradientOf(value));
  rule.Give(0, "Concat", 0, std::move(parts));
}

void SliceBack(Rule& rule) { rule.Give(0, "Pad", 0, {rule.gradient()}); }

void PadBack(Rule& rule) { rule.Give(0, "Slice", 0, {rule.gradient()}, 2 * rule.SizeOf(0)); }

void ReshapeBack(Rule& rule) { rule.Give(0, "Reshape", 0, {rule.gradient()}, 0); }

void TransposeBack(Rule& rule) { rule.Give(0, "Transpose", 0, {rule.gradient()}); }

// Rows that were read more than once are added up.
void GatherBack(Rule& rule) {
  rule.Give(0, "GatherGrad", rule.OutputElements(), {rule.gradient(), rule.InputTensor(1)});
}

void ExpandBack(Rule& rule) { rule.Give(0, "Expand", rule.ElementsOf(0), {rule.gradient()}); }

void SpreadBack(Rule& rule) {
  rule.Give(0, (rule.node().op_type + "Grad").c_str(), rule.ForwardFlops(), {rule.gradient()});
}

void MaxPoolBack(Rule& rule) {
  rule.Give(0, "MaxPoolGrad", rule.ForwardFlops(), {rule.gradient(), rule.InputTensor(0), rule.OutputTensor()});
}

// Data, scale and shift from the gradient and the data; means and deviations are made once more.
void NormalizationBack(Rule& rule) {
  constexpr double kFlopsEach = 14;
  rule.GiveAll(rule.node().op_type + "Grad", kFlopsEach * rule.OutputElements(),
               {rule.gradient(), rule.InputTensor(0), rule.InputTensor(1)});
}

void IdentityBack(Rule& rule) {
  if (rule.Wanted(0)) rule.tape().Hand(rule.node().inputs[0], rule.gradient());
}

void AnyBack(Rule& rule) { rule.GiveAll(rule.node().op_type + "Grad", 2 * rule.ForwardFlops(), rule.Everything()); }

// Functions of one input, element by element (Softmax: row by row).
struct Unary {
  const char* gradient;
  bool from_output;  // its derivative is made from its result, otherwise from its input
  double flops;      // for each element
};

const std::unordered_map<std::string_view, Unary>& Unaries() {
  static const std::unordered_map<std::string_view, Unary> kUnaries = {
      {"Relu", {"ReluGrad", true, 1}},
      {"Sigmoid", {"SigmoidGrad", true, 3}},
      {"Tanh", {"TanhGrad", true, 3}},
      {"Softmax", {"SoftmaxGrad", true, 4}},
      {"Sqrt", {"SqrtGrad", true, 2}},
      {"Exp", {"Mul", true, 1}},
      {"Elu", {"EluGrad", true, 3}},
      {"Clip", {"ClipGrad", false, 2}},
      {"Erf", {"ErfGrad", false, 8}},
      {"Pow", {"PowGrad", false, 2}},
      {"Gelu", {"GeluGrad", false, 14}},
      {"Abs", {"AbsGrad", false, 1}},
      {"LeakyRelu", {"LeakyReluGrad", true, 2}},
      {"Log", {"Div", false, 1}},
      {"Neg", {"Neg", true, 1}},
  };
  return kUnaries;
}

const std::unordered_map<std::string_view, void (*)(Rule&)>& Rules() {
  static const std::unordered_map<std::string_view, void (*)(Rule&)> kRules = {
      {"MatMul", MatMulBack},
      {"Gemm", GemmBack},
      {"Conv", ConvBack},
      {"Add", SumBack},
      {"Sum", SumBack},
      {"Sub", SubBack},
      {"Mul", MulBack},
      {"Div", DivBack},
      {"Concat", ConcatBack},
      {"Split", SplitBack},
      {"Slice", SliceBack},
      {"Pad", PadBack},
      {"Reshape", ReshapeBack},
      {"Flatten", ReshapeBack},
      {"Squeeze", ReshapeBack},
      {"Unsqueeze", ReshapeBack},
      {"Transpose", TransposeBack},
      {"Gather", GatherBack},
      {"ReduceSum", ExpandBack},
      {"ReduceMean", ExpandBack},
      {"AveragePool", SpreadBack},
      {"GlobalAveragePool", SpreadBack},
      {"MaxPool", MaxPoolBack},
      {"BatchNormalization", NormalizationBack},
      {"LayerNormalization", NormalizationBack},
      {"Identity", IdentityBack},
  };
  return kRules;
}

}  // namespace

bool StopsGradient(const Node& node) {
  constexpr std::string_view kName = "stop_gradient";
  const std::size_t slash = node.name.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return node.op_type == "Identity" && std::string_view(node.name).substr(begin).starts_with(kName);
}

void TakeBack(TrainingTape& tape, const Model& model, const Node& node) {
  const auto handed = [&tape](int value) { return tape.GradientOf(value) >= 0; };
  if (std::none_of(node.outputs.begin(), node.outputs.end(), handed)) return;
  const auto wanted = [&tape](int value) { return tape.Wanted(value); };
  if (std::none_of(node.inputs.begin(), node.inputs.end(), wanted)) return;
  Rule rule(tape, model, node);
  if (node.domain.empty()) {
    if (const auto unary = Unaries().find(node.op_type); unary != Unaries().end()) {
      const Unary& how = unary->second;
      const TensorId kept = how.from_output ? rule.OutputTensor() : rule.InputTensor(0);
      rule.Give(0, how.gradient, how.flops * rule.OutputElements(), {rule.gradient(), kept});
      return;
    }
    if (const auto found = Rules().find(node.op_type); found != Rules().end()) {
      found->second(rule);
      return;
    }
  }
  AnyBack(rule);
}

}  // namespace millrace
