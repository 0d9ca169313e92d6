// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/chain_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "millrace/plan/distance.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

TEST(ChainEdges, JoinNeighboursOnEveryUnit) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    std::set<int> units;
    for (const Device& device : machine.devices) units.insert(device.units.begin(), device.units.end());
    std::set<std::pair<int, int>> expected;
    for (const int unit : units) {
      int before = -1;
      for (const int group : plan.sequence) {
        const auto device = static_cast<std::size_t>(plan.placement[static_cast<std::size_t>(group)]);
        const std::vector<int>& owned = machine.devices[device].units;
        if (std::find(owned.begin(), owned.end(), unit) == owned.end()) continue;
        if (before >= 0) expected.emplace(before, group);
        before = group;
      }
    }
    ASSERT_THAT(ChainEdges(MakeTopology(machine), {plan.placement, plan.sequence}),
                ::testing::ElementsAreArray(expected));
  }
}

TEST(ChainEditDistance, IsTheShareOfEdgesOnlyOneHas) {
  using Edges = std::vector<std::pair<int, int>>;
  const Edges a{{0, 1}, {1, 2}, {3, 4}};
  const Edges b{{0, 1}, {1, 3}};
  EXPECT_DOUBLE_EQ(ChainEditDistance(a, b), 3.0 / 5.0);
  EXPECT_DOUBLE_EQ(ChainEditDistance(b, a), 3.0 / 5.0);
  EXPECT_EQ(ChainEditDistance(a, a), 0.0);
  EXPECT_EQ(ChainEditDistance(a, {}), 1.0);
  EXPECT_EQ(ChainEditDistance({}, {}), 0.0);
}

TEST(StartDistances, AreEuclidean) {
  const std::vector<double> a{0, 1, 5}, b{3, 1, 1};
  const std::vector<int> on_a{0, 0, 1}, on_b{0, 1, 1};
  EXPECT_DOUBLE_EQ(StartDistance(a, b), 5.0);
  EXPECT_DOUBLE_EQ(StartAndPlacementDistance(a, on_a, b, on_b, 12.0), 13.0);
  EXPECT_DOUBLE_EQ(StartAndPlacementDistance(a, on_a, b, on_a, 12.0), 5.0);
}

}  // namespace
}  // namespace millrace
