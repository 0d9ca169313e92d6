// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/plan_clusters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/heuristics/acyclic_clusters.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/problem_builder.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

Assignment AssignmentOf(const Plan& plan) { return {plan.placement, plan.sequence}; }

testing::RandomProblemOptions WithoutGroupSeconds() {
  testing::RandomProblemOptions options;
  options.group_seconds = false;
  return options;
}

// A graph, a machine and a plan of its groups.
struct Planned {
  explicit Planned(Random& random)
      : graph(testing::RandomGraph(random, WithoutGroupSeconds())),
        machine(testing::RandomMachine(random, WithoutGroupSeconds())),
        groups(testing::RandomGroups(random, graph)),
        plan(AssignmentOf(testing::RandomPlan(random, graph, machine, groups))),
        model(MakeAnalyticCostModel(graph, machine)),
        costed(MakeCostedGraph(*model, groups)) {}

  ClusteredPlan Clustered() const { return ClusterAlongPlan(*model, costed, plan, 1); }

  const ComputationGraph graph;
  const Machine machine;
  const FusionGroups groups;
  const Assignment plan;
  const std::unique_ptr<CostModel> model;
  const CostedGraph costed;
};

TEST(PlanClusters, StartAndFinishAsThePlanThatTheyAreOf) {
  Random random(71);
  int joined = 0;
  for (int round = 0; round < testing::Rounds(2000); ++round) {
    const Planned drawn(random);
    // This throws where clusters depend on each other.
    const ClusteredPlan clustered = drawn.Clustered();
    const Timeline fine = MakeTimeline(drawn.costed, drawn.plan);
    const Timeline coarse = MakeTimeline(*clustered.costed, clustered.assignment);
    EXPECT_NEAR(coarse.makespan, fine.makespan, 1e-9 * fine.makespan);
    std::vector<std::size_t> cluster_of(static_cast<std::size_t>(drawn.graph.num_ops()));
    for (std::size_t cluster = 0; cluster < clustered.costed->groups.size(); ++cluster) {
      for (const OpId op : clustered.costed->groups[cluster]) cluster_of[static_cast<std::size_t>(op)] = cluster;
    }
    for (std::size_t group = 0; group < drawn.costed.groups.size(); ++group) {
      const std::size_t cluster = cluster_of[static_cast<std::size_t>(drawn.costed.groups[group].front())];
      for (const OpId op : drawn.costed.groups[group]) EXPECT_EQ(cluster_of[static_cast<std::size_t>(op)], cluster);
      EXPECT_EQ(clustered.assignment.placement[cluster], drawn.plan.placement[group]);
      const double slack = 1e-9 * fine.makespan;
      EXPECT_GE(fine.start[group], coarse.start[cluster] - slack);
      EXPECT_LE(fine.finish[group], coarse.finish[cluster] + slack);
    }
    joined += clustered.costed->num_groups < drawn.costed.num_groups ? 1 : 0;
  }
  EXPECT_GT(joined, testing::Rounds(2000) / 4);
}

// Sizes are drawn, so that hardly two transfers are ready at the same time.
TEST(PlanClusters, TakeAsLongUnderContention) {
  Random random(72);
  int joined = 0, same = 0;
  const int rounds = testing::Rounds(2000);
  for (int round = 0; round < rounds; ++round) {
    const Planned drawn(random);
    const ClusteredPlan clustered = drawn.Clustered();
    if (clustered.costed->num_groups == drawn.costed.num_groups) continue;
    ++joined;
    const double fine = ContendedTimeline(drawn.costed, drawn.plan).makespan;
    const double coarse = ContendedTimeline(*clustered.costed, clustered.assignment).makespan;
    same += std::abs(coarse - fine) <= 1e-9 * fine ? 1 : 0;
  }
  EXPECT_GT(joined, rounds / 4);
  EXPECT_GE(same, joined * 99 / 100);
}

TEST(PlanClusters, HaveGroupsThatRunOnTheSameDevicesAndAreOfOneColocation) {
  Random random(73);
  for (int round = 0; round < testing::Rounds(1000); ++round) {
    const Planned drawn(random);
    const CostedGraph clusters = *drawn.Clustered().costed;
    for (int cluster = 0; cluster < clusters.num_groups; ++cluster) {
      const std::vector<OpId>& ops = clusters.groups[static_cast<std::size_t>(cluster)];
      const std::set<OpId> inside(ops.begin(), ops.end());
      std::set<std::int32_t> colocations;
      for (int group = 0; group < drawn.costed.num_groups; ++group) {
        const auto g = static_cast<std::size_t>(group);
        if (!inside.contains(drawn.costed.groups[g].front())) continue;
        if (drawn.costed.colocation[g] >= 0) colocations.insert(drawn.costed.colocation[g]);
        for (int device = 0; device < drawn.costed.num_devices; ++device)
          EXPECT_EQ(drawn.costed.Seconds(group, device) < kCannotRun, clusters.Seconds(cluster, device) < kCannotRun);
      }
      EXPECT_LE(colocations.size(), 1u);
    }
  }
}

TEST(PlanClusters, GiveTheirGroupsThePlanBackThatTheyAreOf) {
  Random random(74);
  for (int round = 0; round < testing::Rounds(1000); ++round) {
    const Planned drawn(random);
    const ClusteredPlan clustered = drawn.Clustered();
    const Assignment spread =
        SpreadOverGroups(*clustered.costed, clustered.assignment, drawn.costed, drawn.plan.sequence);
    EXPECT_EQ(spread.placement, drawn.plan.placement);
    const Timeline before = MakeTimeline(drawn.costed, drawn.plan);
    const Timeline after = MakeTimeline(drawn.costed, spread);
    EXPECT_EQ(after.start, before.start);
    EXPECT_EQ(after.finish, before.finish);
  }
}

// Clusters of any kind, and plans of theirs that nobody has begun with.
TEST(PlanClusters, GiveTheirGroupsValidPlansThatTakeNoLonger) {
  Random random(75);
  int joined = 0;
  for (int round = 0; round < testing::Rounds(1000); ++round) {
    const Planned drawn(random);
    const CostedGraph clusters =
        round % 2 == 0 ? MakeClusteredGraph(*drawn.model, drawn.costed, 1) : *drawn.Clustered().costed;
    const Assignment plan =
        AssignmentOf(testing::RandomPlan(random, drawn.graph, drawn.machine, FusionGroups(clusters.groups)));
    const Assignment spread = SpreadOverGroups(clusters, plan, drawn.costed, drawn.costed.topological_order);
    Plan as_plan;
    as_plan.groups = drawn.groups;
    as_plan.placement = spread.placement;
    as_plan.sequence = spread.sequence;
    EXPECT_EQ(WhyNotValid(drawn.graph, drawn.machine, as_plan), std::nullopt);
    const double coarse = MakeTimeline(clusters, plan).makespan;
    EXPECT_LE(MakeTimeline(drawn.costed, spread).makespan, coarse * (1 + 1e-9));
    joined += clusters.num_groups < drawn.costed.num_groups ? 1 : 0;
  }
  EXPECT_GT(joined, testing::Rounds(1000) / 4);
}

// Twelve ops of a second each on device 0, one after the other.
TEST(PlanClusters, OfAChainHaveTheWorkOfTwoEvenOnesAtMost) {
  testing::ProblemBuilder chain(2);
  Assignment plan;
  for (int i = 0; i < 12; ++i) {
    chain.AddOp({1, 2});
    if (i > 0) chain.AddEdge(i - 1, i, 8);
    plan.placement.push_back(0);
    plan.sequence.push_back(i);
  }
  const ComputationGraph graph(chain.data);
  const auto model = MakeAnalyticCostModel(graph, chain.machine);
  const CostedGraph costed = chain.Price();
  const auto clusters = [&](int wanted) { return ClusterAlongPlan(*model, costed, plan, wanted).costed->num_groups; };
  EXPECT_EQ(clusters(1), 1);
  EXPECT_EQ(clusters(6), 3);
  EXPECT_EQ(clusters(12), 6);
  EXPECT_EQ(clusters(100), 12);
}

// 0 -> 1 -> 2 -> 3 on device 0, and 4 on device 1, which reads what 1 makes and whose result 3 reads.
TEST(PlanClusters, EndWhereSomethingCrossesToAnotherDevice) {
  testing::ProblemBuilder problem(2);
  for (int i = 0; i < 5; ++i) problem.AddOp({1, 1});
  problem.AddEdge(0, 1, 8);
  problem.AddEdge(1, 2, 8);
  problem.AddEdge(2, 3, 8);
  problem.AddEdge(1, 4, 8);
  problem.AddEdge(4, 3, 8);
  const Assignment plan{{0, 0, 0, 0, 1}, {0, 1, 4, 2, 3}};
  const ComputationGraph graph(problem.data);
  const auto model = MakeAnalyticCostModel(graph, problem.machine);
  const ClusteredPlan clustered = ClusterAlongPlan(*model, problem.Price(), plan, 1);
  EXPECT_EQ(clustered.costed->groups, (FusionGroups{{0, 1}, {4}, {2}, {3}}));
  EXPECT_EQ(clustered.assignment.placement, (std::vector<int>{0, 1, 0, 0}));
}

}  // namespace
}  // namespace millrace
