// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "millrace/cost/analytic_cost.h"
#include "millrace/formats/model_graph.h"
#include "millrace/fusion/fusion_options.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/models.h"
#include "tests/optimize/shipped_planners.h"

namespace millrace {
namespace {

Pool PoolTaking(const std::vector<std::pair<int, double>>& plans) {
  Pool pool;
  pool.fusions.resize(3);
  for (const auto& [fusion, seconds] : plans) pool.entries.push_back({fusion, "heft", {}, seconds});
  return pool;
}

TEST(Pool, GivesWaysOfFusingThatAreClearlyBehindLessOfASearchesTime) {
  const Pool pool = PoolTaking({{0, 1.3}, {1, 1.2}, {1, 1.0}, {2, 1.01}});
  EXPECT_LT(pool.ShareOf(0), 1);
  EXPECT_GT(pool.ShareOf(0), 0);
  EXPECT_EQ(pool.ShareOf(1), 1);
  EXPECT_EQ(pool.ShareOf(2), 1) << "so little may be made up for";
}

TEST(Pool, GivesAllWaysOfFusingTheSameShareWhileThereIsNoPlan) {
  const Pool pool = PoolTaking({});
  EXPECT_EQ(pool.ShareOf(0), pool.ShareOf(2));
}

TEST(Pool, AsksNobodyWhoChoosesAmongAllGroupsWhereTimesOfSomeAreKnown) {
  ModelOptions options;
  options.draw_weights = false;
  options.sequence = 2;
  const ComputationGraph graph = GraphOfModel(MakeModel("rnnlm", options));
  const auto methods_of = [](const ComputationGraph& asked) {
    const auto model = MakeAnalyticCostModel(asked, *MachinePreset("p100x2"));
    std::set<std::string> methods;
    PoolWatch watch;
    watch.progress = [&methods](std::string_view method, int, int) { methods.emplace(method); };
    PoolOptions pooling;
    pooling.samples = 1;
    pooling.iterations = 10;
    MakePool(*model, testing::ShippedPlanners(), FusionOptions(*model), pooling, watch);
    return methods;
  };
  std::set<std::string> without_times = methods_of(graph);
  EXPECT_EQ(without_times.erase("anneal+fusion"), 1u);
  const auto greedy = GreedyFusion(graph);
  const auto fused = std::find_if(greedy.begin(), greedy.end(), [](const auto& group) { return group.size() > 1; });
  ASSERT_NE(fused, greedy.end());
  GraphData timed = graph.data();
  timed.group_seconds.emplace_back();
  timed.group_seconds.back().ops = *fused;
  timed.group_seconds.back().seconds.everywhere = 1e-6;
  EXPECT_EQ(methods_of(ComputationGraph(timed)), without_times);
}

}  // namespace
}  // namespace millrace
