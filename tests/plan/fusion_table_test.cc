// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/fusion_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

// The table's rules one after the other, by brute force.
bool Legal(const ComputationGraph& graph, const std::vector<OpId>& group) {
  if (group.size() == 1) return true;
  if (group.empty() || group.size() > kMostOpsPerGroup) return false;
  const std::set<OpId> members(group.begin(), group.end());
  int anchors = 0;
  std::set<OpId> before;
  for (const OpId op : group) {
    const FusionRole role = FusionRoleOf(graph.op(op).type);
    if (role == FusionRole::kAlone) return false;
    anchors += role == FusionRole::kAnchor ? 1 : 0;
    for (const OpId predecessor : graph.Predecessors(op)) {
      if (members.count(predecessor) == 0) continue;
      if (before.count(predecessor) == 0 || role == FusionRole::kAnchor) return false;
    }
    before.insert(op);
  }
  if (anchors > 1) return false;
  for (const Tensor& tensor : graph.tensors()) {
    if (members.count(tensor.producer) == 0 || !tensor.output || tensor.consumers.empty()) continue;
    if (std::all_of(tensor.consumers.begin(), tensor.consumers.end(), [&](OpId op) { return members.count(op) != 0; }))
      return false;
  }
  std::set<OpId> joined{group[0]};
  for (std::size_t round = 0; round < group.size(); ++round) {
    for (const OpId op : group) {
      for (const OpId predecessor : graph.Predecessors(op)) {
        if (members.count(predecessor) == 0) continue;
        if (joined.count(op) != 0 || joined.count(predecessor) != 0) joined.insert({op, predecessor});
      }
    }
  }
  if (joined != members) return false;
  // Convex: nothing outside is both behind a member and before one.
  std::set<OpId> behind;
  for (const OpId op : graph.topological_order()) {
    for (const OpId predecessor : graph.Predecessors(op)) {
      const bool from_outside = behind.count(predecessor) != 0;
      if (members.count(op) != 0 && from_outside) return false;
      if (members.count(op) == 0 && (from_outside || members.count(predecessor) != 0)) behind.insert(op);
    }
  }
  return true;
}

TEST(WhyNotFusible, AgreesWithTheRulesByBruteForce) {
  int legal = 0;
  int other = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    GraphData data = testing::RandomGraph(random).data();
    for (Op& op : data.ops) {
      if (random.Uniform() < 0.5) op.type = "Relu";
    }
    const ComputationGraph graph(std::move(data));
    Reachability reachability(graph);
    for (int round = 0; round < 30; ++round) {
      // Grown along edges, so that many are nearly legal.
      std::vector<OpId> group{static_cast<OpId>(random.Below(static_cast<std::uint64_t>(graph.num_ops())))};
      const std::size_t wanted = 1 + random.Below(6);
      for (int i = 0; i < 20 && group.size() < wanted; ++i) {
        const OpId from = group[random.Below(group.size())];
        const auto next = random.Below(2) == 0 ? graph.Successors(from) : graph.Predecessors(from);
        if (next.empty()) continue;
        const OpId op = next[random.Below(next.size())];
        if (std::count(group.begin(), group.end(), op) == 0) group.push_back(op);
      }
      if (random.Below(8) == 0 && graph.num_ops() > 1) {
        const auto op = static_cast<OpId>(random.Below(static_cast<std::uint64_t>(graph.num_ops())));
        if (std::count(group.begin(), group.end(), op) == 0) group.push_back(op);
      }
      if (random.Below(6) != 0) {
        std::sort(group.begin(), group.end(),
                  [&](OpId a, OpId b) { return reachability.position(a) < reachability.position(b); });
      }
      const auto why = WhyNotFusible(graph, reachability, group);
      ASSERT_EQ(!why, Legal(graph, group)) << "seed " << seed << ": " << why.value_or("legal");
      (why || group.size() == 1 ? other : legal) += 1;
    }
  }
  EXPECT_GT(legal, 1000);
  EXPECT_GT(other, 1000);
}

TEST(WhyNotFusible, RefusesGroupsThatAreTooLargeOrEmpty) {
  GraphData data;
  data.ops.resize(kMostOpsPerGroup + 1);
  std::vector<OpId> group;
  for (OpId op = 0; op < static_cast<OpId>(data.ops.size()); ++op) {
    data.ops[static_cast<std::size_t>(op)].type = "Relu";
    group.push_back(op);
    if (op > 0) data.tensors.push_back({"", op - 1, {op}, 1, false});
  }
  const ComputationGraph graph(std::move(data));
  Reachability reachability(graph);
  EXPECT_NE(WhyNotFusible(graph, reachability, group), std::nullopt);
  group.pop_back();
  EXPECT_EQ(WhyNotFusible(graph, reachability, group), std::nullopt);
  EXPECT_NE(WhyNotFusible(graph, reachability, {}), std::nullopt);
}

TEST(FusionRoleOf, KnowsAnchorsElementwiseOpsAndLeavesTheRestAlone) {
  for (const char* type : {"Conv", "Gemm", "MatMul"}) EXPECT_EQ(FusionRoleOf(type), FusionRole::kAnchor);
  for (const char* type : {"Relu", "Add", "Softmax", "BatchNormalization"})
    EXPECT_EQ(FusionRoleOf(type), FusionRole::kElementwise);
  for (const char* type : {"", "relu", "Reshape", "Loop", "conv2d"}) EXPECT_EQ(FusionRoleOf(type), FusionRole::kAlone);
}

}  // namespace
}  // namespace millrace
