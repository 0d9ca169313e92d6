// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/graph/reachability.h"

// Which ops may share a fusion group. docs/formats.md prints this table for people.
namespace millrace {

enum class FusionRole {
  kAlone,       // never fuses: unknown types, data movement, control flow
  kAnchor,      // heavy: at most one in a group, and it reads nothing the group makes
  kElementwise  // cheap, one element or channel at a time: follows an anchor or another of its kind
};

// By ONNX operator name. Anchors: Conv, Gemm, MatMul. Elementwise: activations, arithmetic, inference normalisation by
// channel (BatchNormalization) and over the last axis (LayerNormalization, Softmax). Of the names that training graphs
// have beside ONNX's (workloads/training_graph.h), the two gradients of a convolution are anchors and those of
// elementwise ops and Softmax elementwise.
FusionRole FusionRoleOf(std::string_view op_type);

// The most ops one group may hold.
inline constexpr std::size_t kMostOpsPerGroup = 16;

// Why this group is not legal: not convex, not connected, an op that may not be there, out of execution order, an
// output of the graph that would never leave the group. Nothing if it is legal. A single op always is.
std::optional<std::string> WhyNotFusible(const ComputationGraph& graph, Reachability& reachability,
                                         const std::vector<OpId>& group);

}  // namespace millrace
