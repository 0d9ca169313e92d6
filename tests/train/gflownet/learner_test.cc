// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/train/gflownet/problems.h"

namespace millrace {
namespace {

// Weights where every part of the network counts: the initial ones keep the last layers at zero.
Weights AnyWeights(std::uint64_t seed, bool looks_ahead) {
  Random random(seed);
  Weights weights = InitialMessagePassingWeights(random);
  if (looks_ahead) LookAhead(weights);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.1 * random.Normal());
  }
  return weights;
}

struct Sampled {
  std::unique_ptr<Problem> problem;
  GraphFeatures graph;
  StepBatch steps;
  double temperature = 1;
};

std::vector<Sampled> Sample(const Weights& weights, const ProblemSettings& settings, int problems, std::uint64_t seed) {
  const std::unique_ptr<Policy> policy = MakeMessagePassingPolicy(weights);
  const ProblemSource source(settings);
  std::vector<Sampled> all(static_cast<std::size_t>(problems));
  Random random(seed);
  for (Sampled& sampled : all) {
    sampled.problem = source.Draw(random);
    sampled.temperature = std::exp(random.Uniform(-4, 0));
    const Environment& environment = sampled.problem->environment();
    sampled.graph = MakeGraphFeatures(environment);
    SampleTrajectories(environment, *policy->Prepare(environment, sampled.temperature), 3,
                       SamplerOptions{.recorded_share = 1}, random.Fork(1), &sampled.steps);
  }
  return all;
}

std::vector<RecordedSteps> Recorded(const std::vector<Sampled>& all) {
  std::vector<RecordedSteps> recorded;
  for (const Sampled& sampled : all) {
    recorded.push_back({.graph = &sampled.graph, .temperature = sampled.temperature, .steps = &sampled.steps});
  }
  return recorded;
}

void ExpectParity(const ProblemSettings& settings, std::uint64_t seed, bool looks_ahead = false) {
  const Weights weights = AnyWeights(seed, looks_ahead);
  const std::vector<Sampled> all = Sample(weights, settings, 8, seed);
  GFlowNetLearner learner(weights, {});
  const std::vector<Predicted> predicted = learner.Predict(Recorded(all));
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

TEST(GFlowNetLearner, AgreesWithThePlainPolicyOnEqualDevices) {
  ExpectParity({.most_ops = 100, .unlike_share = 0, .gang_share = 0}, 1);
}

TEST(GFlowNetLearner, AgreesWithThePlainPolicyOnUnlikeDevices) {
  ExpectParity({.most_ops = 100, .unlike_share = 1, .gang_share = 0}, 2);
}

TEST(GFlowNetLearner, AgreesWithThePlainPolicyWithGangs) {
  ExpectParity({.most_ops = 100, .latency_share = 1, .unlike_share = 0.5, .gang_share = 1}, 3);
}

TEST(GFlowNetLearner, AgreesWithThePlainPolicyOnOneDeviceAndWithoutEdges) {
  ExpectParity({.fewest_ops = 2, .most_ops = 4, .one_device_share = 0.5}, 4);
}

TEST(GFlowNetLearner, AgreesWithThePlainPolicyWhereItLooksAhead) {
  ExpectParity({.most_ops = 100, .unlike_share = 0.3, .gang_share = 0.3, .colocated_share = 0.3}, 5, true);
}

}  // namespace
}  // namespace millrace
