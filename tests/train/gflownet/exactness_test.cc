// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "millrace/cost/analytic_cost.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/gflownet/sampling/exact_distribution.h"
#include "millrace/train/gflownet/update.h"
#include "millrace/workloads/random_graph.h"

// Trained on one tiny graph at three reward temperatures, the network that reads the whole state draws every plan in
// proportion to its reward at each of them.
namespace millrace {
namespace {

constexpr std::array<double, 3> kTemperatures = {0.1, 0.3, 1};
constexpr double kLearningRate = 5e-3;

CostedGraph TinyProblem(bool gang, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = 5;
  options.degree = 2;
  options.seed = seed;
  options.kinds = {{"core", 1}, {"both", 0.6}};
  options.heterogeneity = 0;
  const ComputationGraph graph = MakeRandomGraph("layered", options);
  Machine machine;
  machine.name = "tiny";
  machine.devices.push_back({"a", "core", {0}, 1e12, 1e11, {}, 0});
  machine.devices.push_back({"b", "core", {1}, 1e12, 1e11, {}, 0});
  if (gang) machine.devices.push_back({"ab", "both", {0, 1}, 1e12, 1e11, {}, 0});
  machine.default_link = DefaultLink{0, 1e9};
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

double Distance(const Environment& environment, const Policy& policy, double temperature) {
  const ExactDistribution distribution = MakeExactDistribution(environment, *policy.Prepare(environment, temperature));
  return FitToReward(environment, distribution, temperature).total_variation;
}

void ExpectExactOnceTrained(bool gang, int updates, Backward backward) {
  const CostedGraph costed = TinyProblem(gang, gang ? 2 : 1);
  const Environment environment(costed);
  Random random(1);
  Weights start = InitialTopoformerWeights(Encodes::kState, random, backward);
  // Sharper heuristics never draw most plans, and completions as they start are nearly right at 0.1.
  for (const char* head : {"group.strength.bias", "joint.strength.bias", "completion.strength.bias"}) {
    for (float& value : start.tensors.at(head).values) value = -2;
  }
  GFlowNetLearner learner(start, {.average_decay = 0.97, .gradient_limit = 10});
  const auto objective = MakeLogPartitionVariance({.weight_limit = 0});
  for (int update = 0; update < updates; ++update) {
    const std::unique_ptr<Policy> policy = MakeLearnedPolicy(learner.weights());
    std::vector<TrajectoryBatch> batches(kTemperatures.size());
    for (std::size_t i = 0; i < batches.size(); ++i) {
      SampleBatch(environment, *policy->Prepare(environment, kTemperatures[i]), kTemperatures[i],
                  {.trajectories = 256, .epsilon = 0.05, .states = true, .removals = backward == Backward::kLearned},
                  random.Fork(static_cast<std::uint64_t>(update) * batches.size() + i), batches[i]);
    }
    const double progress = static_cast<double>(update) / updates;
    UpdateLearner(batches, *objective, 0, kLearningRate * (1 - 0.99 * progress), progress, learner);
  }
  const std::unique_ptr<Policy> before = MakeLearnedPolicy(start);
  const std::unique_ptr<Policy> after = MakeLearnedPolicy(learner.average());
  if (backward == Backward::kLearned) {
    const WeightTensor& out = learner.weights().tensors.at("backward.out.weight");
    EXPECT_NE(out, start.tensors.at("backward.out.weight"));
  }
  for (const double temperature : kTemperatures) {
    EXPECT_GT(Distance(environment, *before, temperature), 0.08) << temperature;
    const double distance = Distance(environment, *after, temperature);
    EXPECT_LE(distance, 0.05) << temperature;
    ::testing::Test::RecordProperty(fmt::format("total_variation_at_{}", temperature), fmt::format("{:.4f}", distance));
  }
}

TEST(Exactness, PlansAreDrawnInProportionToTheirReward) { ExpectExactOnceTrained(false, 220, Backward::kUniform); }

TEST(Exactness, PlansAreDrawnInProportionToTheirRewardWithAGang) {
  ExpectExactOnceTrained(true, 300, Backward::kUniform);
}

TEST(Exactness, PlansAreDrawnInProportionToTheirRewardWithALearnedBackwardPolicy) {
  ExpectExactOnceTrained(false, 220, Backward::kLearned);
}

}  // namespace
}  // namespace millrace
