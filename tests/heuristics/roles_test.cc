// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/roles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

constexpr int kSteps = 20;

CostedGraph Costed(const ComputationGraph& graph) {
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:2,latency=0,bandwidth=1e9")),
                         SingleOpGroups(graph));
}

// A recurrence of so many steps: op 3t reads step t - 1 and an input, 3t + 1 and 3t + 2 read 3t, and step t + 1 reads
// 3t + 1. They take 1, 2 and 3 seconds.
GraphData Recurrence() {
  GraphData data;
  for (int step = 0; step < kSteps; ++step) {
    for (int part = 0; part < 3; ++part) {
      Op op;
      op.seconds.everywhere = part + 1;
      data.ops.push_back(op);
    }
    Tensor state, output;
    state.producer = 3 * step;
    state.consumers = {3 * step + 1, 3 * step + 2};
    state.bytes = 100;
    output.producer = 3 * step + 1;
    if (step + 1 < kSteps) output.consumers = {3 * step + 3};
    output.bytes = 50;
    data.tensors.push_back(state);
    data.tensors.push_back(output);
  }
  return data;
}

TEST(Roles, AreThoseOfTheStepsOfARecurrenceButNearItsEnds) {
  for (const int rounds : {0, 1, 2, 3}) {
    const std::vector<std::int32_t> roles = RolesOf(Costed(ComputationGraph(Recurrence())), rounds);
    for (int part = 0; part < 3; ++part) {
      std::set<std::int32_t> inside;
      for (int step = rounds; step + rounds < kSteps; ++step)
        inside.insert(roles[static_cast<std::size_t>(3 * step + part)]);
      EXPECT_EQ(inside.size(), 1U) << rounds << " rounds, part " << part;
    }
    EXPECT_EQ(std::set<std::int32_t>(roles.begin(), roles.end()).size() == 3, rounds == 0);
  }
}

TEST(Roles, TellApartWhatTakesLongerMovesMoreOrIsOfAnotherLayer) {
  const std::size_t changed = 30;
  const auto others = [&](const GraphData& data) {
    const std::vector<std::int32_t> roles = RolesOf(Costed(ComputationGraph(data)), 1);
    return std::count(roles.begin(), roles.end(), roles[changed]);
  };
  const std::int64_t alike = others(Recurrence());
  EXPECT_GT(alike, kSteps / 2);
  GraphData longer = Recurrence();
  longer.ops[changed].seconds.everywhere = 1.5;
  EXPECT_EQ(others(longer), 1);
  GraphData more = Recurrence();
  more.tensors[20].bytes = 101;  // what the op makes
  EXPECT_EQ(others(more), 1);
  GraphData layer = Recurrence();
  layer.ops[changed].layer = 4;
  EXPECT_EQ(others(layer), 1);
}

TEST(Roles, DoNotDependOnHowGroupsAreNumbered) {
  Random random(1);
  for (int i = 0; i < 30; ++i) {
    const testing::CostedProblem problem(random);
    const CostedGraph& costed = problem.costed;
    FusionGroups shuffled = costed.groups;
    std::vector<std::size_t> at(shuffled.size());
    std::iota(at.begin(), at.end(), 0);
    for (std::size_t k = at.size(); k > 1; --k) std::swap(at[k - 1], at[random.Below(k)]);
    for (std::size_t k = 0; k < at.size(); ++k) shuffled[k] = costed.groups[at[k]];
    const auto model = MakeAnalyticCostModel(problem.graph, problem.machine);
    const CostedGraph other = MakeCostedGraph(*model, shuffled);
    const std::vector<std::int32_t> roles = RolesOf(costed, 3), of_other = RolesOf(other, 3);
    std::map<std::int32_t, std::int32_t> number;
    for (std::size_t k = 0; k < at.size(); ++k)
      EXPECT_EQ(number.try_emplace(of_other[k], roles[at[k]]).first->second, roles[at[k]]);
  }
}

TEST(Roles, AreCountedFromNoughtAndHardlySharedByGroupsOfARandomGraph) {
  const CostedGraph costed = Costed(MakeRandomGraph("layered", {.ops = 200, .ccr = 1, .seed = 3}));
  const std::vector<std::int32_t> roles = RolesOf(costed, 3);
  const std::set<std::int32_t> distinct(roles.begin(), roles.end());
  EXPECT_EQ(*distinct.begin(), 0);
  EXPECT_EQ(*distinct.rbegin() + 1, static_cast<std::int32_t>(distinct.size()));
  EXPECT_GT(distinct.size(), 190U);
}

}  // namespace
}  // namespace millrace
