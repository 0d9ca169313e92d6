// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/anneal_fusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/steering.h"
#include "millrace/fusion/merged_fusion.h"
#include "millrace/heuristics/acyclic_clusters.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/go_corpus.h"
#include "tests/reference/random_steering.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"
#include "tests/workloads/unrolled_training.h"

namespace millrace {
namespace {

// The faster of the plans it offers, and its makespan.
std::pair<Plan, double> Planned(const CostModel& model, std::int64_t iterations, Random random) {
  Budget budget;
  budget.iterations = iterations;
  const BestOf best = RunPlanner(*MakeAnnealingFusion(), PlanningProblem(model), budget, random, 2);
  const RatedAssignment& kept = best.kept.front();
  return {{kept.costed->groups, kept.assignment.placement, kept.assignment.sequence}, kept.makespan};
}

TEST(AnnealingFusion, MakesValidPlansThatTakeWhatTheSlowSimulatorSaysAndTheSameAgain) {
  Random random(31);
  int fused = 0;
  for (int round = 0; round < testing::Rounds(150); ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const auto [plan, makespan] = Planned(*model, 1000, Random(1));
    ASSERT_EQ(WhyNotValid(graph, machine, plan), std::nullopt) << round;
    EXPECT_NEAR(makespan, testing::SlowSimulate(graph, machine, plan).makespan, 1e-9 * makespan) << round;
    EXPECT_EQ(Planned(*model, 1000, Random(1)).first, plan) << round;
    fused += plan.groups.size() < static_cast<std::size_t>(graph.num_ops()) ? 1 : 0;
  }
  EXPECT_GT(fused, testing::Rounds(30));
}

TEST(AnnealingFusion, KeepsToWhatAUserHasSettled) {
  Random random(32);
  for (int round = 0; round < 60; ++round) {
    const testing::SteeredProblem problem(random);
    EXPECT_TRUE(Keeps(problem.steering, Planned(*problem.model, 500, Random(1)).first)) << round;
  }
}

TEST(AnnealingFusion, IsAnnealingWhereNoTwoOpsCouldJoinAndWhereTheGroupsAreGiven) {
  Random random(33);
  testing::RandomProblemOptions options;
  options.fusible = false;
  options.group_seconds = false;
  for (int round = 0; round < 30; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph apart = MakeCostedGraph(*model, UnfusedGroups(*model));
    Budget budget;
    budget.iterations = 1000;
    Random one(1), other(1);
    const BestOf annealed = RunPlanner(*MakeAnnealing(), PlanningProblem(*model, apart), budget, one, 1);
    EXPECT_EQ(Planned(*model, 1000, Random(1)).second, annealed.kept.front().makespan) << round;
    const BestOf given = RunPlanner(*MakeAnnealingFusion(), PlanningProblem(*model, apart), budget, other, 1);
    EXPECT_EQ(given.kept.front().assignment, annealed.kept.front().assignment) << round;
  }
}

TEST(AnnealingFusion, FindsFasterPlansOfTrainingGraphsThanAnnealingOverMergedGroups) {
  if (testing::kSanitized) GTEST_SKIP() << "how good plans are is the same, and takes a minute";
  // Translation models, whose time steps may overlap on several devices. Where a search ends on one of them is luck.
  const std::vector<std::pair<std::uint64_t, int>> cases = {{3, 7}, {3, 1}, {2, 7}};
  double log_ratio = 0;  // of its plan's time to that over merged groups
  for (const auto& [corpus, number] : cases) {
    const GoCase drawn = DrawGoCase(corpus, GoCasePurpose::kValidation, number);
    const ComputationGraph graph = MakeGoWorkload(drawn.workload);
    const auto model = MakeAnalyticCostModel(graph, drawn.machine, Proxy::kContended);
    const CostedGraph merged = MakeCostedGraph(*model, MergedFusion(*model));
    Budget budget;
    budget.iterations = 20'000;
    for (const std::uint64_t seed : {1, 2}) {
      Random random(seed);
      const BestOf over_groups = RunPlanner(*MakeAnnealing(), PlanningProblem(*model, merged), budget, random, 1);
      log_ratio +=
          std::log(Planned(*model, *budget.iterations, Random(seed)).second / over_groups.kept.front().makespan);
    }
  }
  EXPECT_LT(std::exp(log_ratio / (2.0 * static_cast<double>(cases.size()))), 0.97);
}

TEST(AnnealingFusion, SearchesLargeGraphsByClustersFirst) {
  const ComputationGraph graph = testing::LargeTraining();
  const Machine machine = *MachinePreset("p100x4");
  for (const Proxy proxy : {Proxy::kContended, Proxy::kLinear}) {
    const auto model = MakeAnalyticCostModel(graph, machine, proxy);
    const CostedGraph merged = MakeCostedGraph(*model, MergedFusion(*model));
    ASSERT_GT(merged.num_groups, kMostGroupsSearched) << "not large";
    Budget budget;
    budget.iterations = testing::kSanitized ? 100 : 12'000;
    const auto [plan, makespan] = Planned(*model, *budget.iterations, Random(1));
    EXPECT_EQ(WhyNotValid(graph, machine, plan), std::nullopt);
    if (testing::kSanitized) continue;
    EXPECT_EQ(Planned(*model, *budget.iterations, Random(1)).first, plan);
    Random random(1);
    const BestOf over_groups = RunPlanner(*MakeAnnealing(), PlanningProblem(*model, merged), budget, random, 1);
    EXPECT_LT(makespan, over_groups.kept.front().makespan);
  }
}

TEST(AnnealingFusion, GoesOnFromAKnownPlanOfALargeGraphThatIsFasterThanThoseOfItsClusters) {
  const ComputationGraph graph = testing::LargeTraining();
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("p100x4"), Proxy::kContended);
  const auto planned = [&](const PlanningProblem& problem, std::int64_t iterations) {
    Budget budget;
    budget.iterations = iterations;
    Random random(2);
    return RunPlanner(*MakeAnnealingFusion(), problem, budget, random, 1).kept.front();
  };
  const RatedAssignment known = planned(PlanningProblem(*model), testing::kSanitized ? 200 : 3000);
  const RatedAssignment on = planned(PlanningProblem(*model).WithStart(*known.costed, known.assignment), 20);
  EXPECT_LE(on.makespan, known.makespan * (1 + 1e-9));
}

TEST(AnnealingFusion, StopsAtItsTimeLimit) {
  const ComputationGraph graph = testing::UnrolledTraining();
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("p100x4"));
  Budget budget;
  budget.seconds = 0.2;
  Random random(1);
  const Deadline clock;
  RunPlanner(*MakeAnnealingFusion(), PlanningProblem(*model), budget, random, 1);
  EXPECT_LT(clock.Elapsed(), 20);
}

}  // namespace
}  // namespace millrace
