// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/acyclic_clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/placements.h"
#include "millrace/machine/preset.h"
#include "tests/reference/problem_builder.h"
#include "tests/reference/random_problem.h"
#include "tests/workloads/unrolled_training.h"

namespace millrace {
namespace {

// The cluster of each group, which must be whole.
std::vector<std::int32_t> ClusterOf(const CostedGraph& costed, const FusionGroups& clusters, int num_ops) {
  std::vector<std::int32_t> of_op(static_cast<std::size_t>(num_ops), -1);
  for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster) {
    EXPECT_FALSE(clusters[cluster].empty());
    for (const OpId op : clusters[cluster]) {
      EXPECT_EQ(of_op[static_cast<std::size_t>(op)], -1) << "op " << op << " is in two clusters";
      of_op[static_cast<std::size_t>(op)] = static_cast<std::int32_t>(cluster);
    }
  }
  std::vector<std::int32_t> of_group;
  for (const std::vector<OpId>& group : costed.groups) {
    of_group.push_back(of_op[static_cast<std::size_t>(group.front())]);
    for (const OpId op : group) EXPECT_EQ(of_op[static_cast<std::size_t>(op)], of_group.back());
  }
  return of_group;
}

TEST(AcyclicClusters, HoldEveryGroupOnceAndAreGroupsOfAGraphThemselves) {
  Random random(51);
  int joined = 0;
  for (int round = 0; round < 400; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, testing::RandomGroups(random, graph));
    for (const int fewest : {1, costed.num_groups / 2, costed.num_groups}) {
      const FusionGroups clusters = MakeAcyclicClusters(costed, fewest);
      EXPECT_GE(static_cast<int>(clusters.size()), std::min(fewest, costed.num_groups));
      const std::vector<std::int32_t> cluster_of = ClusterOf(costed, clusters, graph.num_ops());
      // This throws where clusters depend on each other, or where one can run nowhere.
      const CostedGraph coarse = MakeClusteredGraph(*model, costed, fewest);
      EXPECT_EQ(coarse.groups, clusters);
      std::vector<double> seconds(coarse.seconds.size(), 0.0);
      for (std::int32_t group = 0; group < costed.num_groups; ++group) {
        for (int device = 0; device < costed.num_devices; ++device) {
          const auto cluster = static_cast<std::size_t>(cluster_of[static_cast<std::size_t>(group)]);
          seconds[cluster * static_cast<std::size_t>(costed.num_devices) + static_cast<std::size_t>(device)] +=
              costed.Seconds(group, device);
        }
      }
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        if (seconds[i] == kCannotRun) {
          EXPECT_EQ(coarse.seconds[i], kCannotRun);
        } else {
          EXPECT_NEAR(coarse.seconds[i], seconds[i], 1e-9 * seconds[i]);
        }
      }
      joined += coarse.num_groups < costed.num_groups ? 1 : 0;
      std::vector<std::set<std::vector<bool>>> devices(clusters.size());
      std::vector<std::set<std::int32_t>> colocations(clusters.size());
      for (std::int32_t group = 0; group < costed.num_groups; ++group) {
        const auto cluster = static_cast<std::size_t>(cluster_of[static_cast<std::size_t>(group)]);
        std::vector<bool> runs;
        for (int device = 0; device < costed.num_devices; ++device)
          runs.push_back(costed.Seconds(group, device) < kCannotRun);
        devices[cluster].insert(runs);
        const std::int32_t colocation = costed.colocation[static_cast<std::size_t>(group)];
        if (colocation >= 0) colocations[cluster].insert(colocation);
      }
      for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster) {
        EXPECT_EQ(devices[cluster].size(), 1u);
        EXPECT_LE(colocations[cluster].size(), 1u);
      }
    }
  }
  EXPECT_GT(joined, 300);
}

TEST(AcyclicClusters, OfAPlacementAreEachOnOneDeviceOfIt) {
  Random random(52);
  int joined = 0;
  for (int round = 0; round < 200; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, testing::RandomGroups(random, graph));
    const std::vector<int> placement = PlaceByLayers(costed);
    const CostedGraph coarse = MakeClusteredGraph(*model, costed, 1, placement);
    const std::vector<std::int32_t> cluster_of = ClusterOf(costed, coarse.groups, graph.num_ops());
    std::vector<std::set<int>> devices(coarse.groups.size());
    for (std::size_t group = 0; group < placement.size(); ++group)
      devices[static_cast<std::size_t>(cluster_of[group])].insert(placement[group]);
    for (const std::set<int>& of_cluster : devices) EXPECT_EQ(of_cluster.size(), 1u);
    joined += coarse.num_groups < costed.num_groups ? 1 : 0;
  }
  EXPECT_GT(joined, 100);
}

TEST(AcyclicClusters, OfAChainAreAsFewAsIsAskedFor) {
  testing::ProblemBuilder chain(2);
  for (int i = 0; i < 100; ++i) {
    chain.AddOp({1, 2});
    if (i > 0) chain.AddEdge(i - 1, i, 8);
  }
  const CostedGraph costed = chain.Price();
  for (const int fewest : {40, 7, 1})
    EXPECT_EQ(MakeAcyclicClusters(costed, fewest).size(), static_cast<std::size_t>(fewest));
}

// 0 -> 1 -> 3 and 0 -> 2 -> 3 with dear edges to 3, and 0 -> 3, which a path leads around.
TEST(AcyclicClusters, JoinTheDearestPairsAndNoneThatAPathLeadsAround) {
  testing::ProblemBuilder diamond(2);
  for (int i = 0; i < 4; ++i) diamond.AddOp({1, 1});
  diamond.AddEdge(0, 1, 1);
  diamond.AddEdge(0, 2, 1);
  diamond.AddEdge(0, 3, 100);
  diamond.AddEdge(1, 3, 50);
  diamond.AddEdge(2, 3, 10);
  EXPECT_EQ(MakeAcyclicClusters(diamond.Price(), 3), (FusionGroups{{0}, {1, 3}, {2}}));
}

TEST(AcyclicClusters, AreMuchFewerThanTheGroupsOfATrainingGraph) {
  const ComputationGraph graph = testing::UnrolledTraining();
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("p100x4"), Proxy::kContended);
  const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
  EXPECT_LT(3 * MakeAcyclicClusters(costed, 1).size(), 2 * static_cast<std::size_t>(costed.num_groups));
}

}  // namespace
}  // namespace millrace
