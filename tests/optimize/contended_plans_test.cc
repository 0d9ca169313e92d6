// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/contended_plans.h"

#include <gtest/gtest.h>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placements.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/no_progress.h"
#include "tests/optimize/shipped_planners.h"

namespace millrace {
namespace {

using testing::kNoProgress;
using testing::ShippedPlanners;

ComputationGraph CommunicatingGraph() {
  RandomGraphOptions options;
  options.ops = 80;
  options.ccr = 5;
  options.seed = 3;
  return MakeRandomGraph("layered", options);
}

Pool PoolOf(const CostModel& model) {
  PoolOptions options;
  options.methods = {"heft"};
  return MakePool(model, ShippedPlanners(), FusionOptions(model), options, {});
}

TEST(ContendedPlans, AreValidAndFasterThanHeftUnderContention) {
  const ComputationGraph graph = CommunicatingGraph();
  const Machine machine = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  const auto model = MakeAnalyticCostModel(graph, machine);
  const Pool pool = PoolOf(*model);
  const std::vector<Candidate> plans = ContendedPlans(pool, ShippedPlanners(), {}, kNoProgress);
  ASSERT_EQ(plans.size(), pool.fusions.size());
  const Candidate& plan = plans.front();
  EXPECT_EQ(plan.method, "contended-search");
  EXPECT_EQ(WhyNotValid(graph, machine, plan.plan), std::nullopt);
  const CostedGraph& costed = pool.fusions.front().costed;
  EXPECT_LT(ContendedTimeline(costed, {plan.plan.placement, plan.plan.sequence}).makespan,
            ContendedTimeline(costed, pool.entries.front().assignment).makespan);
  EXPECT_EQ(ContendedPlans(pool, ShippedPlanners(), {}, kNoProgress).front().plan, plan.plan);
}

TEST(ContendedPlans, BeginWithTheBestPlanOfGoAndAreNoSlowerThanIt) {
  const ComputationGraph graph = CommunicatingGraph();
  const Machine machine = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  const auto model = MakeAnalyticCostModel(graph, machine);
  Pool pool = PoolOf(*model);
  pool.fusions.push_back({"go", MakeCostedGraph(*model, SingleOpGroups(model->graph())), false});
  const CostedGraph& costed = pool.fusions.back().costed;
  PoolEntry entry;
  entry.fusion = static_cast<int>(pool.fusions.size()) - 1;
  entry.method = "go";
  entry.assignment = SchedulePlaced(costed, PlaceByLayers(costed), {}).assignment;
  entry.proxy_seconds = Simulator(costed).Makespan(entry.assignment);
  const double before = ContendedTimeline(costed, entry.assignment).makespan;
  const std::size_t without = ContendedPlans(pool, ShippedPlanners(), {}, kNoProgress).size();
  pool.entries.push_back(entry);
  const std::vector<Candidate> plans = ContendedPlans(pool, ShippedPlanners(), {}, kNoProgress);
  ASSERT_EQ(plans.size(), without + 1);
  EXPECT_EQ(plans.back().method, "go+search");
  EXPECT_EQ(plans.back().plan.groups, costed.groups);
  EXPECT_LE(ContendedTimeline(costed, {plans.back().plan.placement, plans.back().plan.sequence}).makespan, before);
}

TEST(ContendedPlans, AreNoneWhereTransfersAreFreeOrTheGraphIsTooLarge) {
  const ComputationGraph graph = CommunicatingGraph();
  const Machine free_links = *MachinePreset("homogeneous:4");
  const auto free = MakeAnalyticCostModel(graph, free_links);
  EXPECT_TRUE(ContendedPlans(PoolOf(*free), ShippedPlanners(), {}, kNoProgress).empty());
  const Machine links = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  const auto model = MakeAnalyticCostModel(graph, links);
  ContendedPlansOptions options;
  options.visits = 500;
  EXPECT_TRUE(ContendedPlans(PoolOf(*model), ShippedPlanners(), options, kNoProgress).empty());
}

}  // namespace
}  // namespace millrace
