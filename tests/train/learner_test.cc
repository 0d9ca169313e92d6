// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/policy/message_passing.h"
#include "millrace/rollout/sampler.h"
#include "millrace/train/problems.h"

namespace millrace {
namespace {

// Weights where every part of the network counts: the initial ones keep the last layers at zero.
Weights AnyWeights(std::uint64_t seed) {
  Random random(seed);
  Weights weights = InitialMessagePassingWeights(random);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.1 * random.Normal());
  }
  return weights;
}

struct Played {
  std::unique_ptr<Problem> problem;
  GraphFeatures graph;
  StepBatch steps;
  double temperature = 1;
};

std::vector<Played> Play(const Weights& weights, const ProblemSettings& settings, int problems, std::uint64_t seed) {
  const std::unique_ptr<Policy> policy = MakeMessagePassingPolicy(weights);
  const ProblemSource source(settings);
  std::vector<Played> all(static_cast<std::size_t>(problems));
  Random random(seed);
  for (Played& played : all) {
    played.problem = source.Draw(random);
    played.temperature = std::exp(random.Uniform(-4, 0));
    const Environment& environment = played.problem->environment();
    played.graph = MakeGraphFeatures(environment);
    SampleTrajectories(environment, *policy->Prepare(environment, played.temperature), 3,
                       SamplerOptions{.recorded_share = 1}, random.Fork(1), &played.steps);
  }
  return all;
}

std::vector<Replay> Replays(const std::vector<Played>& all) {
  std::vector<Replay> replays;
  for (const Played& played : all) {
    replays.push_back({.graph = &played.graph, .temperature = played.temperature, .steps = &played.steps});
  }
  return replays;
}

void ExpectParity(const ProblemSettings& settings, std::uint64_t seed) {
  const Weights weights = AnyWeights(seed);
  const std::vector<Played> all = Play(weights, settings, 8, seed);
  Learner learner(weights, {});
  const std::vector<Predicted> predicted = learner.Predict(Replays(all));
  ASSERT_EQ(predicted.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const StepBatch& steps = all[i].steps;
    ASSERT_EQ(predicted[i].groups.size(), steps.groups.steps());
    ASSERT_EQ(predicted[i].devices.size(), steps.devices.steps());
    ASSERT_GT(steps.groups.steps(), 0u);
    for (std::size_t s = 0; s < steps.groups.steps(); ++s) {
      EXPECT_NEAR(predicted[i].groups[s], steps.groups.log_probability[s], 1e-4) << "problem " << i << " step " << s;
    }
    for (std::size_t s = 0; s < steps.devices.steps(); ++s) {
      EXPECT_NEAR(predicted[i].devices[s], steps.devices.log_probability[s], 1e-4) << "problem " << i << " step " << s;
    }
  }
}

TEST(Learner, AgreesWithThePlainPolicyOnEqualDevices) {
  ExpectParity({.most_ops = 100, .unlike_share = 0, .gang_share = 0}, 1);
}

TEST(Learner, AgreesWithThePlainPolicyOnUnlikeDevices) {
  ExpectParity({.most_ops = 100, .unlike_share = 1, .gang_share = 0}, 2);
}

TEST(Learner, AgreesWithThePlainPolicyWithGangs) {
  ExpectParity({.most_ops = 100, .latency_share = 1, .unlike_share = 0.5, .gang_share = 1}, 3);
}

TEST(Learner, AgreesWithThePlainPolicyOnOneDeviceAndWithoutEdges) {
  ExpectParity({.fewest_ops = 2, .most_ops = 4, .one_device_share = 0.5}, 4);
}

}  // namespace
}  // namespace millrace
