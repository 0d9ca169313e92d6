// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/fusion_table.h"

#include <algorithm>
#include <array>

namespace millrace {
namespace {

constexpr std::array kAnchors = {"Conv", "ConvGradInput", "ConvGradWeight", "Gemm", "MatMul"};
constexpr std::array kElementwise = {"Abs",
                                     "AbsGrad",
                                     "Add",
                                     "BatchNormalization",
                                     "Clip",
                                     "ClipGrad",
                                     "DequantizeLinear",
                                     "Div",
                                     "DivGrad",
                                     "Dropout",
                                     "Elu",
                                     "EluGrad",
                                     "Erf",
                                     "ErfGrad",
                                     "Exp",
                                     "Gelu",
                                     "GeluGrad",
                                     "HardSigmoid",
                                     "HardSwish",
                                     "Identity",
                                     "LayerNormalization",
                                     "LeakyRelu",
                                     "LeakyReluGrad",
                                     "Log",
                                     "Max",
                                     "Min",
                                     "Mul",
                                     "Neg",
                                     "PRelu",
                                     "Pow",
                                     "PowGrad",
                                     "QuantizeLinear",
                                     "Reciprocal",
                                     "Relu",
                                     "ReluGrad",
                                     "Sigmoid",
                                     "SigmoidGrad",
                                     "Softmax",
                                     "SoftmaxGrad",
                                     "Softplus",
                                     "Sqrt",
                                     "SqrtGrad",
                                     "Sub",
                                     "Sum",
                                     "Tanh",
                                     "TanhGrad"};

std::string Label(const ComputationGraph& graph, OpId op) {
  return "op " + std::to_string(op) + " '" + graph.op(op).name + "' (" + graph.op(op).type + ")";
}

}  // namespace

FusionRole FusionRoleOf(std::string_view op_type) {
  if (std::find(kAnchors.begin(), kAnchors.end(), op_type) != kAnchors.end()) return FusionRole::kAnchor;
  if (std::find(kElementwise.begin(), kElementwise.end(), op_type) != kElementwise.end())
    return FusionRole::kElementwise;
  return FusionRole::kAlone;
}

std::optional<std::string> WhyNotFusible(const ComputationGraph& graph, Reachability& reachability,
                                         const std::vector<OpId>& group) {
  if (group.empty()) return "it is empty";
  if (group.size() == 1) return std::nullopt;
  if (group.size() > kMostOpsPerGroup) return "it has more than " + std::to_string(kMostOpsPerGroup) + " ops";
  const auto place_of = [&group](OpId op) { return std::find(group.begin(), group.end(), op) - group.begin(); };
  const auto size = static_cast<std::ptrdiff_t>(group.size());
  // Groups are small, so a square walk over their members beats building tables.
  std::vector<std::size_t> component(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) component[i] = i;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const OpId op = group[i];
    const FusionRole role = FusionRoleOf(graph.op(op).type);
    if (role == FusionRole::kAlone) return Label(graph, op) + " never fuses";
    for (const OpId predecessor : graph.Predecessors(op)) {
      const std::ptrdiff_t at = place_of(predecessor);
      if (at == size) continue;
      if (at > static_cast<std::ptrdiff_t>(i))
        return Label(graph, op) + " comes before op " + std::to_string(predecessor) + ", which it reads";
      if (role == FusionRole::kAnchor)
        return Label(graph, op) + " reads what the group makes; it can only start a group";
      const std::size_t joined = component[static_cast<std::size_t>(at)];
      const std::size_t own = component[i];
      std::replace(component.begin(), component.end(), own, joined);
    }
    if (role == FusionRole::kAnchor) {
      const bool another =
          std::any_of(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(i),
                      [&graph](OpId earlier) { return FusionRoleOf(graph.op(earlier).type) == FusionRole::kAnchor; });
      if (another) return Label(graph, op) + " is the group's second anchor";
    }
    for (const TensorId output : graph.Outputs(op)) {
      const Tensor& tensor = graph.tensor(output);
      const bool leaves =
          tensor.consumers.empty() || std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                                  [&](OpId consumer) { return place_of(consumer) == size; });
      if (tensor.output && !leaves)
        return "tensor '" + tensor.name + "' is an output of the graph and would stay inside";
    }
  }
  if (std::any_of(component.begin(), component.end(), [&component](std::size_t c) { return c != component.front(); })) {
    return "its ops are not connected by tensors";
  }
  if (!reachability.Convex(group)) return "it is not convex: a path leaves it and comes back";
  return std::nullopt;
}

}  // namespace millrace
