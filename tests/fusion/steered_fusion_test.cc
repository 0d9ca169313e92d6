// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/fusion/fusion_choices.h"
#include "millrace/fusion/fusion_options.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/plan/verify.h"
#include "tests/reference/random_steering.h"

// Ways of fusing where a user has settled something.
namespace millrace {
namespace {

using testing::SteeredProblem;

// That the groups are legal, have a device each, and are those that must stay.
void ExpectKept(const SteeredProblem& problem, const FusionGroups& groups, const std::string& where) {
  EXPECT_EQ(WhyNotGroups(problem.graph, groups), std::nullopt) << where;
  EXPECT_NO_THROW(MakeCostedGraph(*problem.model, groups)) << where;
  const std::set<std::vector<OpId>> all(groups.begin(), groups.end());
  for (const std::vector<OpId>& kept : problem.steering.kept) EXPECT_TRUE(all.contains(kept)) << where;
}

TEST(SteeredFusion, EveryWayOfFusingKeepsGroupsAndLeavesEachADevice) {
  std::size_t kept_pairs = 0, fused_elsewhere = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const SteeredProblem problem(random);
    for (const FusionOption& option : FusionOptions(*problem.model))
      ExpectKept(problem, option.groups, option.name + ", seed " + std::to_string(seed));
    const FusionGroups greedy = GreedyFusion(*problem.model);
    for (const std::vector<OpId>& group : greedy) {
      if (group.size() < 2) continue;
      const std::vector<std::vector<OpId>>& kept = problem.steering.kept;
      ++(std::find(kept.begin(), kept.end(), group) == kept.end() ? fused_elsewhere : kept_pairs);
    }
  }
  EXPECT_GT(kept_pairs, 50U);
  EXPECT_GT(fused_elsewhere, 200U);
}

TEST(SteeredFusion, EveryRowOfChoicesKeepsGroupsAndLeavesEachADevice) {
  std::size_t merges = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const SteeredProblem problem(random);
    const FusionProblem fusion(*problem.model);
    FusionState state(fusion);
    for (int walk = 0; walk < 4; ++walk) {
      state.Clear();
      while (!state.done()) {
        if (walk == 0 || random.Below(2) == 0) {
          state.Accept();
          ++merges;
        } else {
          state.Decline();
        }
      }
      const FusionGroups groups = state.groups();
      ExpectKept(problem, groups, "seed " + std::to_string(seed));
      EXPECT_EQ(AnswersFor(fusion, groups), state.answers()) << "seed " << seed;
    }
  }
  EXPECT_GT(merges, 1000U);
}

TEST(SteeredFusion, OpsThatArePinnedApartStayApart) {
  GraphData data;
  for (int op = 0; op < 3; ++op) {
    data.ops.emplace_back();
    data.ops.back().name = "op" + std::to_string(op);
    data.ops.back().type = op == 0 ? "Conv" : "Relu";
    data.tensors.emplace_back();
    data.tensors.back().producer = op;
    if (op < 2) data.tensors.back().consumers = {op + 1};
  }
  const ComputationGraph graph(std::move(data));
  Random random(1);
  Machine machine = testing::RandomMachine(random, {.kinds = false, .gangs = false});
  machine.devices.resize(1, machine.devices.front());
  machine.links.clear();
  machine.devices.push_back(machine.devices.front());
  machine.devices.back().units = {99};
  const auto fused = [&](std::vector<std::int32_t> device_of, FusionGroups kept) {
    return GreedyFusion(
        *MakeSteeredCostModel(MakeAnalyticCostModel(graph, machine), {std::move(device_of), std::move(kept)}));
  };
  EXPECT_EQ(fused({0, -1, -1}, {}), (FusionGroups{{0, 1, 2}}));
  EXPECT_EQ(fused({0, -1, 1}, {}), (FusionGroups{{0, 1}, {2}}));
  EXPECT_EQ(fused({0, 1, 1}, {}), (FusionGroups{{0}, {1, 2}}));
  EXPECT_EQ(fused({-1, 0, 0}, {{1, 2}}), (FusionGroups{{0}, {1, 2}}));
  EXPECT_EQ(fused({-1, 0, -1}, {{1}}), (FusionGroups{{0}, {1}, {2}}));
}

}  // namespace
}  // namespace millrace
