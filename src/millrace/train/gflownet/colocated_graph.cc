// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/colocated_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace millrace {
namespace {

constexpr double kLeastShare = 0.2;
constexpr double kSmallestSet = 2;
constexpr double kLargestSet = 8;

}  // namespace

ComputationGraph SideBySide(const ComputationGraph& graph, int copies) {
  GraphData data;
  data.name = graph.name();
  for (int copy = 0; copy < copies; ++copy) {
    const OpId first = copy * graph.num_ops();
    for (OpId id = 0; id < graph.num_ops(); ++id) {
      Op op = graph.op(id);
      op.name = fmt::format("{}.{}", op.name, copy);
      op.colocate = fmt::format("op{}", id);
      data.ops.push_back(std::move(op));
    }
    for (const Tensor& tensor : graph.tensors()) {
      Tensor own = tensor;
      own.name = fmt::format("{}.{}", tensor.name, copy);
      if (own.producer >= 0) own.producer += first;
      for (OpId& consumer : own.consumers) consumer += first;
      data.tensors.push_back(std::move(own));
    }
  }
  return ComputationGraph(std::move(data));
}

ComputationGraph WithRandomColocations(const ComputationGraph& graph, Random& random) {
  GraphData data;
  data.name = graph.name();
  data.tensors.assign(graph.tensors().begin(), graph.tensors().end());
  const double share = random.Uniform(kLeastShare, 1);
  const double sets = share * graph.num_ops() / random.Uniform(kSmallestSet, kLargestSet);
  const auto number = static_cast<std::uint64_t>(std::max(1.0, sets));
  for (OpId id = 0; id < graph.num_ops(); ++id) {
    Op op = graph.op(id);
    if (random.Uniform() < share) op.colocate = fmt::format("set{}", random.Below(number));
    data.ops.push_back(std::move(op));
  }
  return ComputationGraph(std::move(data));
}

}  // namespace millrace
