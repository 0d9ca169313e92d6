// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/hdp/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/train/hdp/features.h"
#include "millrace/train/torch/plan_reward.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

// Four chains that share nothing: a device each is best, and anything by chance is far from it.
ComputationGraph Chains() {
  constexpr int kLength = 15;
  GraphData data;
  for (int chain = 0; chain < 4; ++chain) {
    for (int i = 0; i < kLength; ++i) {
      const auto op = static_cast<OpId>(data.ops.size());
      Op made;
      made.name = "op" + std::to_string(op);
      made.type = chain % 2 == 0 ? "MatMul" : "Relu";
      made.seconds.everywhere = 1;
      data.ops.push_back(made);
      Tensor tensor;
      tensor.name = "t" + std::to_string(op);
      tensor.producer = op;
      tensor.bytes = 2e9;
      if (i + 1 < kLength) tensor.consumers = {op + 1};
      data.tensors.push_back(tensor);
    }
  }
  return ComputationGraph(std::move(data));
}

CostedGraph Costed(const ComputationGraph& graph, const Machine& machine) {
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

double MeanOfRandomPlacements(const CostedGraph& costed) {
  Random random(5);
  double sum = 0;
  constexpr int kPlans = 50;
  for (int i = 0; i < kPlans; ++i) {
    Assignment assignment;
    assignment.sequence.assign(costed.topological_order.begin(), costed.topological_order.end());
    for (int group = 0; group < costed.num_groups; ++group) {
      assignment.placement.push_back(static_cast<int>(random.Below(static_cast<std::uint64_t>(costed.num_devices))));
    }
    sum += UsableSeconds(costed, assignment);
  }
  return sum / kPlans;
}

TEST(Hdp, LearnsPlacementsMuchBetterThanChance) {
  const ComputationGraph graph = Chains();
  const CostedGraph costed = Costed(graph, *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9"));
  std::vector<double> means;
  const HdpResult result = TrainHdp(graph, costed, {.updates = 300, .groups = 16, .seed = 3},
                                    [&](const HdpProgress& progress) { means.push_back(progress.mean_seconds); });
  ASSERT_TRUE(result.best.has_value());
  const double chance = MeanOfRandomPlacements(costed);
  EXPECT_LT(result.progress.best_seconds, 0.75 * chance);
  // What it draws has become better, not only the luckiest of many.
  const double first = std::accumulate(means.begin(), means.begin() + 10, 0.0) / 10;
  const double last = std::accumulate(means.end() - 10, means.end(), 0.0) / 10;
  EXPECT_LT(last, 0.8 * first);
}

TEST(Hdp, SaysOfItsBestPlanWhatTheTargetSays) {
  const ComputationGraph graph = Chains();
  const Machine machine = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  const CostedGraph costed = Costed(graph, machine);
  const HdpResult result = TrainHdp(graph, costed, {.updates = 5, .samples = 4}, [](const HdpProgress&) {});
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.progress.best_seconds, ContendedTimeline(costed, *result.best).makespan);
  EXPECT_EQ(result.progress.updates, 5);
  EXPECT_EQ(result.progress.evaluations, 20);
}

TEST(Hdp, GivesTheSameForTheSameSeedAtAnyNumberOfThreads) {
  const ComputationGraph graph = Chains();
  const CostedGraph costed = Costed(graph, *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9"));
  const auto run = [&](std::uint64_t seed, int threads) {
    std::vector<double> course;
    const HdpSettings settings{.updates = 20, .groups = 8, .seed = seed, .threads = threads};
    TrainHdp(graph, costed, settings, [&](const HdpProgress& progress) { course.push_back(progress.mean_seconds); });
    return course;
  };
  const std::vector<double> once = run(1, 1);
  EXPECT_EQ(once, run(1, 3));
  EXPECT_NE(once, run(2, 1));
}

TEST(Hdp, MakesValidPlansOfOddProblems) {
  Random random(9);
  for (int i = 0; i < 15; ++i) {
    const ComputationGraph graph = testing::RandomGraph(random, {.memory = true});
    const Machine machine = testing::RandomMachine(random, {.memory = true});
    if (graph.num_ops() == 0) continue;
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), testing::RandomGroups(random, graph));
    const HdpResult result = TrainHdp(graph, costed, {.updates = 8, .groups = 6}, [](const HdpProgress&) {});
    if (!result.best) continue;
    EXPECT_EQ(WhyNotValid(graph, machine, {costed.groups, result.best->placement, result.best->sequence}),
              std::nullopt);
    EXPECT_TRUE(FitsInMemory(costed, *result.best));
  }
}

TEST(Hdp, SaysWhereNothingFitsInMemory) {
  const ComputationGraph graph = Chains();
  Machine machine = *MachinePreset("homogeneous:2");
  for (Device& device : machine.devices) device.memory_bytes = 1e9;
  const CostedGraph costed = Costed(graph, machine);
  const HdpResult result = TrainHdp(graph, costed, {.updates = 3}, [](const HdpProgress&) {});
  EXPECT_FALSE(result.best.has_value());
  EXPECT_TRUE(std::isinf(result.progress.best_seconds));
}

TEST(Hdp, RefusesToRunWithoutALimit) {
  const ComputationGraph graph = Chains();
  const CostedGraph costed = Costed(graph, *MachinePreset("homogeneous:2"));
  EXPECT_THROW(TrainHdp(graph, costed, {}, [](const HdpProgress&) {}), InvalidInput);
}

TEST(Hdp, KeepsColocatedGroupsInOneUnit) {
  Random random(4);
  for (int i = 0; i < 20; ++i) {
    const ComputationGraph graph = testing::RandomGraph(random);
    if (graph.num_ops() == 0) continue;
    const Machine machine = testing::RandomMachine(random);
    const CostedGraph costed = Costed(graph, machine);
    const HdpFeatures features = MakeHdpFeatures(graph, costed);
    for (int a = 0; a < costed.num_groups; ++a) {
      for (int b = 0; b < a; ++b) {
        const std::int32_t bound = costed.colocation[static_cast<std::size_t>(a)];
        const bool together = bound >= 0 && bound == costed.colocation[static_cast<std::size_t>(b)];
        EXPECT_EQ(features.unit_of[static_cast<std::size_t>(a)] == features.unit_of[static_cast<std::size_t>(b)],
                  together);
      }
    }
    for (const float value : features.rows) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(PlanReward, FallsWithTheRootOfTimeAndIsWorstForPlansThatCannotRun) {
  EXPECT_DOUBLE_EQ(PlanReward(4, 1), -2);
  EXPECT_DOUBLE_EQ(PlanReward(1, 4), -0.5);
  EXPECT_DOUBLE_EQ(PlanReward(std::numeric_limits<double>::infinity(), 1), kUnusableReward);
  EXPECT_DOUBLE_EQ(PlanReward(1e9, 1), kUnusableReward);
}

}  // namespace
}  // namespace millrace
