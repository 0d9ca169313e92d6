// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/policy/learned_fusion.h"
#include "millrace/policy/learned_policy.h"
#include "millrace/policy/topoformer.h"
#include "millrace/rollout/exact_fused_distribution.h"
#include "millrace/train/fused_lesson.h"
#include "tests/reference/random_problem.h"

// The fusion choices' own network, and both networks together on whole plans.
namespace millrace {
namespace {

constexpr std::array<double, 3> kTemperatures = {0.1, 0.3, 1};

Weights ShakenFusionWeights(std::uint64_t seed) {
  Random random(seed);
  Weights weights = InitialFusionWeights(random);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.2 * random.Normal());
  }
  return weights;
}

TEST(FusionLearner, AgreesWithThePlainPolicy) {
  const Weights weights = ShakenFusionWeights(1);
  const std::unique_ptr<FusionPolicy> policy = MakeLearnedFusionPolicy(weights);
  FusionLearner learner(weights, {});
  int offers = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random, {});
    const auto model = MakeAnalyticCostModel(graph, testing::RandomMachine(random, {}));
    const FusionProblem problem(*model);
    const double temperature = std::exp(random.Uniform(-4, 1));
    FusionState state(problem);
    MergeObserver observer(problem);
    std::vector<double> wanted;
    while (!state.done()) {
      MergeObservation offered;
      observer.Observe(state, offered);
      const bool accepted = random.Below(2) == 0;
      const double logit = policy->Logit(offered, temperature);
      wanted.push_back(-std::log1p(std::exp(accepted ? -logit : logit)));
      accepted ? state.Accept() : state.Decline();
    }
    if (wanted.empty()) continue;
    const std::vector<float> said = learner.Predict({RecordMerges(problem, temperature, {state.answers()})}).front();
    ASSERT_EQ(said.size(), wanted.size());
    for (std::size_t i = 0; i < said.size(); ++i) EXPECT_NEAR(said[i], wanted[i], 1e-4) << "seed " << seed;
    offers += static_cast<int>(said.size());
  }
  EXPECT_GT(offers, 50);
}

TEST(FusionLearner, RefusesWeightsOfAnotherNetwork) {
  Random random(1);
  EXPECT_THROW(FusionLearner(InitialTopoformerWeights(Encodes::kState, random), {}), InvalidInput);
}

// A convolution, its activation and what adds that to something else. Any two or all three may be fused, which saves
// launches and costs what could have run on both devices. An offered merge shows what was answered before.
ComputationGraph TwoBranches() {
  GraphData data;
  const auto op = [&data](const char* type, double flops) {
    data.ops.emplace_back();
    data.ops.back().type = type;
    data.ops.back().flops = flops;
  };
  op("Conv", 1.0);
  op("Relu", 0.4);
  op("Unknown", 0.8);
  op("Add", 0.3);
  data.tensors = {
      {"a", 0, {1}, 0.1, false}, {"b", 1, {3}, 0.1, false}, {"c", 2, {3}, 0.1, false}, {"d", 3, {}, 0.1, true}};
  return ComputationGraph(std::move(data));
}

Machine TwoDevices() {
  Machine machine;
  machine.name = "tiny";
  machine.devices.push_back({"a", "core", {0}, 1, 100, {}, 0.2});
  machine.devices.push_back({"b", "core", {1}, 1, 100, {}, 0.2});
  machine.default_link = DefaultLink{0, 1};
  return machine;
}

double Distance(const CostModel& model, const Weights& fusing, const Weights& placing, double temperature) {
  FusedSampler sampler(model, MakeLearnedFusionPolicy(fusing), MakeLearnedPolicy(placing), temperature);
  const ExactFusedDistribution distribution = MakeExactFusedDistribution(sampler);
  EXPECT_GT(distribution.fusions, 3);
  return FitToReward(sampler, distribution).total_variation;
}

TEST(FusedExactness, WholePlansAreDrawnInProportionToTheirReward) {
  constexpr int kUpdates = 150;
  constexpr double kLearningRate = 5e-3;
  const ComputationGraph graph = TwoBranches();
  const auto model = MakeAnalyticCostModel(graph, TwoDevices());
  Random random(1);
  Weights placing_start = InitialTopoformerWeights(Encodes::kState, random);
  for (const char* head : {"group.strength.bias", "joint.strength.bias"}) {
    for (float& value : placing_start.tensors.at(head).values) value = -2;  // sharper ones never draw most plans
  }
  const Weights fusing_start = InitialFusionWeights(random);
  Learner placing(placing_start, {.average_decay = 0.97, .gradient_limit = 10});
  FusionLearner fusing(fusing_start, {.average_decay = 0.97, .gradient_limit = 10});
  for (int update = 0; update < kUpdates; ++update) {
    const std::shared_ptr<const Policy> policy = MakeLearnedPolicy(placing.weights());
    const std::shared_ptr<const FusionPolicy> fusion = MakeLearnedFusionPolicy(fusing.weights());
    std::vector<FusedLesson> lessons;
    for (const double temperature : kTemperatures) {
      FusedSampler sampler(*model, fusion, policy, temperature);
      lessons.push_back(DrawFusedLesson(sampler, {.trajectories = 256, .epsilon = 0.05, .states = true},
                                        random.Fork(static_cast<std::uint64_t>(update)).Fork(lessons.size())));
    }
    const double left = 1 - 0.99 * update / kUpdates;
    TeachFused(lessons, 0, {.fusing = 10 * kLearningRate * left, .placing = kLearningRate * left}, fusing, placing);
  }
  for (const double temperature : kTemperatures) {
    EXPECT_GT(Distance(*model, fusing_start, placing_start, temperature), 0.1) << temperature;
    const double distance = Distance(*model, fusing.average(), placing.average(), temperature);
    EXPECT_LE(distance, 0.05) << temperature;
    RecordProperty(fmt::format("total_variation_at_{}", temperature), fmt::format("{:.4f}", distance));
  }
}

}  // namespace
}  // namespace millrace
