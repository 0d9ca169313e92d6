// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/optimize/optimize.h"
#include "millrace/plan/verify.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/plan_value.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/no_progress.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/random_steering.h"
#include "tests/reference/sanitized.h"

// The whole run, where the best plan is not the fastest.
namespace millrace {
namespace {

using testing::kNoProgress;
using testing::ShippedPlanners;

const Machine kThreeAlike = *MachinePreset("homogeneous:3,latency=1e-3,bandwidth=1e9");

OptimizeOptions Towards(const std::string& objective, const std::string& target) {
  OptimizeOptions options;
  options.objective = ParseObjective(objective);
  options.target = target;
  options.samples = testing::Rounds(16);
  options.iterations = testing::Rounds(2000);
  return options;
}

LoadedGraph Drawn(const std::string& family, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = 40;
  options.ccr = 1;
  options.seed = seed;
  LoadedGraph loaded;
  loaded.graph = MakeRandomGraph(family, options);
  return loaded;
}

// That the best plan is worth what it says, takes no longer than it may, and that no plan measured is better.
void ExpectBest(const OptimizeResult& result, const ComputationGraph& graph, const std::string& where) {
  const Objective& objective = result.objective;
  ASSERT_TRUE(result.best.value && result.best.target_seconds && result.fastest.target_seconds) << where;
  EXPECT_EQ(WhyNotValid(graph, result.machine, result.best.plan), std::nullopt) << where;
  const double limit = objective.Limit(*result.fastest.target_seconds);
  EXPECT_LE(*result.best.target_seconds, limit) << where;
  EXPECT_LE(*result.best.value, *result.fastest.value) << where;
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, result.machine), result.best.plan.groups);
  const Assignment assignment{result.best.plan.placement, result.best.plan.sequence};
  EXPECT_EQ(MakePlanValue(objective.aim, costed)(assignment, MakeTimeline(costed, assignment)), *result.best.value);
  for (const Candidate& candidate : result.candidates) {
    ASSERT_TRUE(candidate.value && candidate.target_seconds) << where;
    EXPECT_GE(*candidate.target_seconds, *result.fastest.target_seconds) << where;
    if (*candidate.target_seconds <= limit) {
      EXPECT_GE(*candidate.value, *result.best.value) << where;
    }
  }
  ASSERT_FALSE(result.front.empty()) << where;
  for (std::size_t i = 1; i < result.front.size(); ++i) {
    EXPECT_GT(*result.front[i].target_seconds, *result.front[i - 1].target_seconds) << where;
    EXPECT_LT(*result.front[i].value, *result.front[i - 1].value) << where;
  }
  EXPECT_TRUE(std::any_of(result.front.begin(), result.front.end(), [&result](const Candidate& point) {
    return *point.value == *result.best.value;
  })) << where;
}

TEST(OptimizeTowards, MemoryGivesTheLeastOfAllThatIsFastEnough) {
  int less = 0;
  for (const char* const target : {"sim:noise,sigma=0", "sim:contention", "sim:noise"}) {
    for (const char* const family : {"layered", "er", "sbm"}) {
      if (testing::kSanitized && std::string(target) + family != "sim:noiselayered") continue;
      const LoadedGraph loaded = Drawn(family, 11);
      const OptimizeResult result =
          Optimize(loaded, kThreeAlike, ShippedPlanners(), Towards("memory,within=1.3", target), kNoProgress);
      ExpectBest(result, loaded.graph, std::string(target) + " " + family);
      less += *result.best.value < 0.9 * *result.fastest.value;
    }
  }
  EXPECT_GE(less, testing::kSanitized ? 0 : 5);
}

// The fastest plan of a chain has one device; in stages on three of them its runs overlap.
TEST(OptimizeTowards, ThroughputCutsAChainIntoStages) {
  GraphData data;
  constexpr OpId kOps = 12;
  for (OpId op = 0; op < kOps; ++op) {
    data.ops.emplace_back();
    data.ops.back().name = "op" + std::to_string(op);
    data.ops.back().seconds.everywhere = 1;
    data.tensors.emplace_back();
    data.tensors.back().producer = op;
    data.tensors.back().bytes = 1e8;
    if (op + 1 < kOps) data.tensors.back().consumers = {op + 1};
  }
  LoadedGraph loaded;
  loaded.graph = ComputationGraph(std::move(data));
  const OptimizeResult result = Optimize(loaded, kThreeAlike, ShippedPlanners(),
                                         Towards("throughput,within=1.5", "sim:noise,sigma=0"), kNoProgress);
  ExpectBest(result, loaded.graph, "chain");
  EXPECT_DOUBLE_EQ(*result.fastest.value, 12);
  EXPECT_LE(*result.best.value, 6);
}

TEST(OptimizeTowards, LatencyHasNoFront) {
  const OptimizeResult result =
      Optimize(Drawn("er", 11), kThreeAlike, ShippedPlanners(), Towards("latency", "sim:contention"), kNoProgress);
  EXPECT_TRUE(result.front.empty());
  EXPECT_FALSE(result.best.value);
}

TEST(OptimizeTowards, MemoryKeepsToPinsAndGroups) {
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(6); ++seed) {
    Random random(950 + seed);
    const testing::SteeredProblem problem(random);
    LoadedGraph loaded;
    loaded.graph = problem.graph;
    OptimizeOptions options = Towards(seed % 2 == 0 ? "memory,within=3" : "throughput,within=3", "sim:contention");
    options.steering = problem.steering;
    const OptimizeResult result = Optimize(loaded, problem.machine, ShippedPlanners(), options, kNoProgress);
    for (const Candidate& candidate : result.candidates)
      EXPECT_TRUE(Keeps(problem.steering, candidate.plan)) << candidate.method;
  }
}

TEST(OptimizeTowards, ATimeThatNoPlanCanKeepFailsAndOneThatAnyCanGivesTheLeastMemoryOfAll) {
  const LoadedGraph loaded = Drawn("layered", 13);
  EXPECT_THROW(
      Optimize(loaded, kThreeAlike, ShippedPlanners(), Towards("memory,seconds=1e-9", "sim:contention"), kNoProgress),
      WorkFailed);
  const OptimizeResult result =
      Optimize(loaded, kThreeAlike, ShippedPlanners(), Towards("memory,seconds=1e9", "sim:contention"), kNoProgress);
  EXPECT_EQ(*result.best.value, *result.front.back().value);
}

TEST(OptimizeTowards, MemoryKeepsItsTimeLimit) {
  constexpr double kSoon = 20;  // where other programs take the processors
  OptimizeOptions options = Towards("memory", "sim:contention");
  options.samples = options.iterations = std::nullopt;
  options.time_limit = 1;
  const Deadline clock;
  const LoadedGraph loaded = Drawn("er", 14);
  ExpectBest(Optimize(loaded, kThreeAlike, ShippedPlanners(), options, kNoProgress), loaded.graph, "in time");
  EXPECT_LT(clock.Elapsed(), kSoon);
}

}  // namespace
}  // namespace millrace
