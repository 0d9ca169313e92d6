// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/memory_saving_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

Machine OneDevice() {
  Machine machine;
  Device device;
  device.name = device.kind = "d";
  device.units = {0};
  device.flops_per_second = device.memory_bandwidth = 1e9;
  machine.devices = {device};
  return machine;
}

double PeakOf(const CostedGraph& costed, std::vector<int> order) {
  const Assignment assignment{std::vector<int>(order.size(), 0), std::move(order)};
  return PeakMemory(costed, assignment, MakeTimeline(costed, assignment)).front();
}

// The least peak of any topological order, by trying all of them.
double LeastPeak(const CostedGraph& costed) {
  std::vector<int> order(costed.topological_order.begin(), costed.topological_order.end());
  std::sort(order.begin(), order.end());
  double least = PeakOf(costed, {costed.topological_order.begin(), costed.topological_order.end()});
  do {
    std::vector<int> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    bool topological = true;
    for (int group = 0; group < costed.num_groups && topological; ++group) {
      for (const GroupEdge& edge : costed.Predecessors(group))
        topological =
            topological && position[static_cast<std::size_t>(edge.group)] < position[static_cast<std::size_t>(group)];
    }
    if (topological) least = std::min(least, PeakOf(costed, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(MemorySavingOrder, ComesCloseToTheLeastPeakOfAnyOrderOnSmallGraphs) {
  Random random(1);
  int least = 0;
  int graphs = 0;
  for (int i = 0; i < 60; ++i) {
    testing::RandomProblemOptions options{.most_ops = 7, .kinds = false};
    const ComputationGraph graph = testing::RandomGraph(random, options);
    if (graph.num_ops() < 4) continue;
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, OneDevice()), SingleOpGroups(graph));
    const double best = LeastPeak(costed);
    const double memory_saving = std::min(PeakOf(costed, MemorySavingOrder(costed, MemorySavingRule::kLeastIncrease)),
                                          PeakOf(costed, MemorySavingOrder(costed, MemorySavingRule::kDepthFirst)));
    EXPECT_GE(memory_saving, best * (1 - 1e-12));
    ++graphs;
    if (memory_saving <= best * (1 + 1e-12)) ++least;
  }
  EXPECT_GT(least, graphs * 3 / 4) << "of " << graphs;
}

// Branches that each grow a large tensor and shrink it: one at a time holds one large tensor, side by side all.
TEST(MemorySavingOrder, FinishesABranchBeforeTheNext) {
  constexpr int kBranches = 20;
  GraphData data;
  const auto add = [&data](int from, double bytes) {
    Op op;
    op.seconds.everywhere = 1;
    data.ops.push_back(op);
    const int id = static_cast<int>(data.ops.size()) - 1;
    Tensor tensor;
    tensor.producer = id;
    tensor.bytes = bytes;
    data.tensors.push_back(tensor);
    if (from >= 0) data.tensors[static_cast<std::size_t>(from)].consumers.push_back(id);
    return id;
  };
  const int root = add(-1, 1);
  std::vector<int> ends;
  for (int i = 0; i < kBranches; ++i) ends.push_back(add(root, 100));
  for (int& end : ends) end = add(end, 1);
  const int join = add(-1, 1);
  for (const int end : ends) data.tensors[static_cast<std::size_t>(end)].consumers.push_back(join);
  const ComputationGraph graph(data);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, OneDevice()), SingleOpGroups(graph));
  const double in_turn = PeakOf(costed, {costed.topological_order.begin(), costed.topological_order.end()});
  EXPECT_GT(in_turn, 100 * kBranches);
  for (const MemorySavingRule rule : {MemorySavingRule::kLeastIncrease, MemorySavingRule::kDepthFirst})
    EXPECT_LT(PeakOf(costed, MemorySavingOrder(costed, rule)), 100 + 2 * kBranches);
}

}  // namespace
}  // namespace millrace
