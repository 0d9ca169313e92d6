// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "millrace/policy/learned_policy.h"
#include "millrace/policy/topoformer.h"
#include "millrace/rollout/sampler.h"
#include "millrace/train/learner.h"
#include "millrace/train/problems.h"

namespace millrace {
namespace {

TEST(StateNetwork, AgreesWithThePlainPolicyOnEqualAndUnlikeDevicesAndGangs) {
  Random random(1);
  Weights weights = InitialTopoformerWeights(Encodes::kState, random);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.1 * random.Normal());
  }
  const std::unique_ptr<Policy> policy = MakeLearnedPolicy(weights);
  const ProblemSource source(
      {.fewest_ops = 2, .most_ops = 12, .most_devices = 4, .unlike_share = 0.5, .gang_share = 0.5});
  Learner learner(weights, {});
  for (int i = 0; i < 8; ++i) {
    const std::unique_ptr<Problem> problem = source.Draw(random);
    const Environment& environment = problem->environment();
    const double temperature = std::exp(random.Uniform(-4, 0));
    const GraphFeatures graph = MakeGraphFeatures(environment);
    StepBatch steps;
    SamplerOptions all;
    all.recorded_share = 1;
    std::vector<std::vector<Action>> actions;
    for (const Trajectory& trajectory :
         SampleTrajectories(environment, *policy->Prepare(environment, temperature), 3, all, random.Fork(1), &steps)) {
      actions.push_back(trajectory.actions);
    }
    const StateSteps states = RecordStates(environment, actions);
    const Predicted predicted =
        learner.Predict({{.graph = &graph, .temperature = temperature, .steps = &steps, .states = &states}}).at(0);
    ASSERT_EQ(predicted.groups.size(), steps.groups.steps());
    ASSERT_EQ(predicted.devices.size(), steps.devices.steps());
    for (std::size_t s = 0; s < steps.groups.steps(); ++s) {
      EXPECT_NEAR(predicted.groups[s], steps.groups.log_probability[s], 1e-4) << "problem " << i << " step " << s;
      EXPECT_NEAR(predicted.devices[s], steps.devices.log_probability[s], 1e-4) << "problem " << i << " step " << s;
    }
  }
}

}  // namespace
}  // namespace millrace
