// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/gflownet/sampling/remembered_policy.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/train/gflownet/learner.h"
#include "millrace/train/gflownet/problems.h"

namespace millrace {
namespace {

void ExpectAgreement(Backward backward) {
  Random random(1);
  Weights weights = InitialTopoformerWeights(Encodes::kState, random, backward);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.1 * random.Normal());
  }
  const std::unique_ptr<Policy> policy = MakeLearnedPolicy(weights);
  const ProblemSource source(
      {.fewest_ops = 2, .most_ops = 12, .most_devices = 4, .unlike_share = 0.5, .gang_share = 0.5});
  GFlowNetLearner learner(weights, {});
  double unlike_uniform = 0;
  for (int i = 0; i < 8; ++i) {
    const std::unique_ptr<Problem> problem = source.Draw(random);
    const Environment& environment = problem->environment();
    const double temperature = std::exp(random.Uniform(-4, 0));
    const std::unique_ptr<PreparedPolicy> prepared = policy->Prepare(environment, temperature);
    const GraphFeatures graph = MakeGraphFeatures(environment);
    StepBatch steps;
    SamplerOptions all;
    all.recorded_share = 1;
    const std::vector<Trajectory> trajectories =
        SampleTrajectories(environment, *prepared, 3, all, random.Fork(1), &steps);
    std::vector<std::vector<Action>> actions;
    actions.reserve(trajectories.size());
    for (const Trajectory& trajectory : trajectories) actions.push_back(trajectory.actions);
    const StateSteps states = RecordStates(environment, temperature, actions, backward == Backward::kLearned);
    const Predicted predicted =
        learner.Predict({{.graph = &graph, .temperature = temperature, .steps = &steps, .states = &states}}).at(0);
    ASSERT_EQ(predicted.groups.size(), steps.groups.steps());
    ASSERT_EQ(predicted.devices.size(), steps.devices.steps());
    for (std::size_t s = 0; s < steps.groups.steps(); ++s) {
      EXPECT_NEAR(predicted.groups[s], steps.groups.log_probability[s], 1e-4) << "problem " << i << " step " << s;
      EXPECT_NEAR(predicted.devices[s], steps.devices.log_probability[s], 1e-4) << "problem " << i << " step " << s;
    }
    const auto uniform = RescoreTrajectories(environment, *MakeUniformPolicy()->Prepare(environment, 1), actions, {},
                                             Random(1), nullptr);
    const auto remembered = RescoreTrajectories(environment, *Remembering(*prepared), actions, {}, Random(1), nullptr);
    std::size_t step = 0;
    for (std::size_t k = 0; k < trajectories.size(); ++k) {
      EXPECT_EQ(remembered[k].log_backward, trajectories[k].log_backward);
      unlike_uniform += std::fabs(trajectories[k].log_backward - uniform[k].log_backward);
      if (backward == Backward::kUniform) continue;
      ASSERT_EQ(predicted.removals.size(), steps.groups.steps());
      double sum = 0;
      for (std::size_t s = 0; s < actions[k].size(); ++s) sum += static_cast<double>(predicted.removals[step++]);
      EXPECT_NEAR(sum, trajectories[k].log_backward, 1e-4) << "problem " << i;
    }
  }
  EXPECT_EQ(unlike_uniform > 0.1, backward == Backward::kLearned);
}

TEST(StateNetwork, AgreesWithThePlainPolicyOnEqualAndUnlikeDevicesAndGangs) { ExpectAgreement(Backward::kUniform); }

TEST(StateNetwork, AgreesWithThePlainBackwardPolicy) { ExpectAgreement(Backward::kLearned); }

TEST(StateNetwork, LearnsNoBackwardPolicyWhereTheGraphIsEncodedOnce) {
  Random random(1);
  EXPECT_THROW(InitialTopoformerWeights(Encodes::kGraph, random, Backward::kLearned), InvalidInput);
}

}  // namespace
}  // namespace millrace
