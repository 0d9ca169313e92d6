// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/cluster_levels.h"

#include <gtest/gtest.h>

#include <set>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

class ClustersOfARandomGraph : public ::testing::TestWithParam<int> {
 protected:
  ClustersOfARandomGraph()
      : graph_(
            MakeRandomGraph("layered", {.ops = 40 * GetParam(), .ccr = 2, .seed = static_cast<unsigned>(GetParam())})),
        machine_(*MachinePreset("homogeneous:4,latency=1e-6,bandwidth=1e9")),
        costed_(MakeCostedGraph(*MakeAnalyticCostModel(graph_, machine_), SingleOpGroups(graph_))),
        levels_(MakeClusterLevels(costed_, 6)) {}

  ComputationGraph graph_;
  Machine machine_;
  CostedGraph costed_;
  std::vector<ClusterLevel> levels_;
};

TEST_P(ClustersOfARandomGraph, EveryLevelHoldsEveryGroupOnce) {
  for (const ClusterLevel& level : levels_) {
    std::multiset<std::int32_t> seen;
    for (std::int32_t cluster = 0; cluster < level.num_clusters(); ++cluster) {
      EXPECT_FALSE(level.Members(cluster).empty());
      for (const std::int32_t group : level.Members(cluster)) {
        EXPECT_EQ(level.cluster_of[static_cast<std::size_t>(group)], cluster);
        seen.insert(group);
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(costed_.num_groups));
    EXPECT_EQ(std::set<std::int32_t>(seen.begin(), seen.end()).size(), seen.size());
  }
}

TEST_P(ClustersOfARandomGraph, LevelsAreNestedAndGetCoarserDownToTheFewest) {
  EXPECT_EQ(levels_.front().num_clusters(), costed_.num_groups);
  EXPECT_EQ(levels_.back().num_clusters(), 6);
  for (std::size_t l = 1; l < levels_.size(); ++l) {
    EXPECT_LT(levels_[l].num_clusters(), levels_[l - 1].num_clusters());
    for (std::int32_t cluster = 0; cluster < levels_[l - 1].num_clusters(); ++cluster) {
      std::set<std::int32_t> homes;
      for (const std::int32_t group : levels_[l - 1].Members(cluster))
        homes.insert(levels_[l].cluster_of[static_cast<std::size_t>(group)]);
      EXPECT_EQ(homes.size(), 1u);
    }
  }
}

TEST_P(ClustersOfARandomGraph, BeginWithThePartsThatAreGiven) {
  std::vector<std::int32_t> parts;
  for (std::int32_t group = 0; group < costed_.num_groups; ++group) parts.push_back(group % 20);
  const std::vector<ClusterLevel> levels = MakeClusterLevels(costed_, parts, 6);
  EXPECT_EQ(levels.front().num_clusters(), 20);
  EXPECT_EQ(levels.back().num_clusters(), 6);
  for (const ClusterLevel& level : levels) {
    for (std::size_t group = 0; group < parts.size(); ++group)
      EXPECT_EQ(level.cluster_of[group], level.cluster_of[static_cast<std::size_t>(parts[group])]);
  }
}

TEST_P(ClustersOfARandomGraph, AClusterIsNeverMuchHeavierThanTheMean) {
  double work = 0;
  for (const double seconds : costed_.fastest_seconds) work += seconds;
  for (const ClusterLevel& level : levels_) {
    if (level.num_clusters() == costed_.num_groups) continue;
    for (std::int32_t cluster = 0; cluster < level.num_clusters(); ++cluster) {
      double own = 0;
      for (const std::int32_t group : level.Members(cluster))
        own += costed_.fastest_seconds[static_cast<std::size_t>(group)];
      EXPECT_LE(own, 6 * work / level.num_clusters());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ClustersOfARandomGraph, ::testing::Range(1, 9));

TEST(ClusterLevels, TheDearestEdgeIsJoinedFirst) {
  GraphData data;
  data.ops.resize(4);
  data.tensors.resize(3);
  for (std::size_t op = 0; op < 4; ++op) data.ops[op].seconds.everywhere = 1;
  for (int tensor = 0; tensor < 3; ++tensor) {
    data.tensors[static_cast<std::size_t>(tensor)].producer = tensor;
    data.tensors[static_cast<std::size_t>(tensor)].consumers = {tensor + 1};
    data.tensors[static_cast<std::size_t>(tensor)].bytes = tensor == 1 ? 9e9 : 1e9;
  }
  const ComputationGraph graph(std::move(data));
  const Machine machine = *MachinePreset("homogeneous:2,latency=0,bandwidth=1e9");
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const std::vector<ClusterLevel> levels = MakeClusterLevels(costed, 3);
  ASSERT_EQ(levels.back().num_clusters(), 3);
  EXPECT_EQ(levels.back().cluster_of[1], levels.back().cluster_of[2]);
}

TEST(ClusterLevels, ColocatedGroupsAreOneClusterAtEveryLevel) {
  GraphData data;
  data.ops.resize(5);
  for (std::size_t op = 0; op < 5; ++op) data.ops[op].seconds.everywhere = 1;
  data.ops[0].colocate = data.ops[4].colocate = "together";
  const ComputationGraph graph(std::move(data));
  const Machine machine = *MachinePreset("homogeneous:2");
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const std::vector<ClusterLevel> levels = MakeClusterLevels(costed, 2);
  EXPECT_EQ(levels.front().num_clusters(), 4);
  EXPECT_EQ(levels.back().num_clusters(), 4) << "nothing else is connected";
  EXPECT_EQ(levels.back().cluster_of[0], levels.back().cluster_of[4]);
}

}  // namespace
}  // namespace millrace
