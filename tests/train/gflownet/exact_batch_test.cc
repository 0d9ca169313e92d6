// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/exact_batch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/train/gflownet/exact_problems.h"
#include "millrace/train/gflownet/update.h"

namespace millrace {
namespace {

const ProblemSettings kTiny = {
    .fewest_ops = 4, .most_ops = 5, .fewest_devices = 2, .most_devices = 2, .one_device_share = 0, .gang_share = 0.3};

TEST(ExactBatch, WantsAChanceOfOneInEveryStateThatIsMet) {
  Random random(1);
  const ProblemSource source(kTiny);
  for (int i = 0; i < 5; ++i) {
    const ExactProblem exact = DrawExactProblem(source, {.fewest_plans = 20, .most_plans = 500}, random);
    const Environment& environment = exact.problem->environment();
    TrajectoryBatch batch;
    MakeExactBatch(environment, exact.states, 0.3, {.trajectories = 16, .epsilon = 0.1}, random.Fork(1), batch);
    const std::vector<float>& wanted = batch.sampled.wanted;
    ASSERT_EQ(wanted.size(), batch.states.taken_choice.size());
    ASSERT_EQ(wanted.size(), batch.states.choice_group.size());
    std::vector<double> by_state(static_cast<std::size_t>(batch.states.states), 0);
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      const auto ready = static_cast<std::size_t>(batch.states.choice_ready[c]);
      by_state[static_cast<std::size_t>(batch.states.ready_state[ready])] += wanted[c];
    }
    EXPECT_NEAR(by_state[0], 1, 1e-5);  // every trajectory begins there
    EXPECT_NEAR(std::accumulate(by_state.begin(), by_state.end(), 0.0), environment.num_groups(), 1e-4);
    for (const double share : by_state) EXPECT_NEAR(share * 16, std::round(share * 16), 1e-4);
  }
}

TEST(ExactFlowDivergence, IsNothingWhereThePolicyIsTheFlow) {
  SampledTrajectories sampled;
  sampled.wanted = {0.25F, 0.5F, 0.25F};
  for (const float chance : sampled.wanted) sampled.wanted_entropy -= chance * std::log(chance);
  Predicted predicted;
  predicted.groups = {std::log(0.5F), std::log(0.5F), std::log(0.25F)};
  predicted.devices = {std::log(0.5F), 0, 0};
  const auto objective = MakeObjective("exact_flow", {});
  const Derivative derivative = objective->Differentiate(sampled, predicted, 0);
  EXPECT_NEAR(derivative.loss, 0, 1e-6);
  EXPECT_EQ(derivative.groups, (std::vector<float>{-0.25F, -0.5F, -0.25F}));
  EXPECT_EQ(derivative.devices, derivative.groups);
  predicted.devices[0] = std::log(0.1F);
  EXPECT_NEAR(objective->Differentiate(sampled, predicted, 0).loss, 0.25 * std::log(5), 1e-6);
}

TEST(ExactProblems, AreRefusedWhereNoneHasAsManyPlans) {
  Random random(1);
  EXPECT_THROW(DrawExactProblem(ProblemSource(kTiny), {.fewest_plans = 100'000, .most_plans = 200'000}, random),
               InvalidInput);
}

TEST(ExactFlowDivergence, BringsAPolicyNearTheRewardOnProblemsItHasNotSeen) {
  const ProblemSource source(kTiny);
  const ExactProblemSettings sizes{.fewest_plans = 20, .most_plans = 300};
  const std::vector<ExactProblem> unseen = MakeExactValidation(source, sizes, 6);
  Random random(3);
  Weights start = InitialTopoformerWeights(Encodes::kState, random);
  for (const char* head : {"group.strength.bias", "joint.strength.bias", "completion.strength.bias"}) {
    for (float& value : start.tensors.at(head).values) value = -2;
  }
  GFlowNetLearner learner(start, {.average_decay = 0.9, .gradient_limit = 2});
  const auto objective = MakeObjective("exact_flow", {});
  const auto distance = [&](const Weights& weights) {
    return ScoreExactness(*MakeLearnedPolicy(weights), unseen, {0.3}, RewardForm::kSizeScaled, 1).front().mean;
  };
  const double before = distance(start);
  for (int update = 0; update < 60; ++update) {
    std::vector<TrajectoryBatch> batches(4);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const ExactProblem exact = DrawExactProblem(source, sizes, random);
      MakeExactBatch(exact.problem->environment(), exact.states, 0.3,
                     {.trajectories = 16, .epsilon = 0.05, .states = true}, random.Fork(1), batches[i]);
    }
    UpdateLearner(batches, *objective, 0, 3e-3, 0, learner);
  }
  EXPECT_LT(distance(learner.average()), before / 2);
}

}  // namespace
}  // namespace millrace
