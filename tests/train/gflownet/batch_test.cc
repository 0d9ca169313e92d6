// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/train/gflownet/problems.h"

namespace millrace {
namespace {

constexpr double kBatchTemperature = 0.3;

TEST(TrajectoryBatch, HasTheRewardsAskedForAndTheRatiosOfMeanAndBest) {
  const std::unique_ptr<Problem> problem = MakeGridProblem({.ops = 20, .devices = 3, .ccr = 1}, 4);
  const Environment& environment = problem->environment();
  const std::unique_ptr<PreparedPolicy> policy = MakeUniformPolicy()->Prepare(environment, kBatchTemperature);
  for (const RewardForm reward : {RewardForm::kSizeScaled, RewardForm::kSpeedup}) {
    TrajectoryBatch batch;
    const std::vector<Trajectory> trajectories =
        SampleBatch(environment, *policy, kBatchTemperature, {.trajectories = 7, .reward = reward}, Random(1), batch);
    ASSERT_EQ(trajectories.size(), 7u);
    double sum = 0, best = trajectories[0].makespan;
    for (std::size_t i = 0; i < trajectories.size(); ++i) {
      EXPECT_EQ(batch.sampled.log_reward[i],
                LogReward(environment, trajectories[i].makespan, kBatchTemperature, reward));
      sum += trajectories[i].makespan;
      best = std::min(best, trajectories[i].makespan);
    }
    EXPECT_NEAR(batch.mean_ratio, environment.reference_makespan() * 7 / sum, 1e-12);
    EXPECT_NEAR(batch.best_ratio, environment.reference_makespan() / best, 1e-12);
    EXPECT_FALSE(batch.demonstration);
  }
}

TEST(TrajectoryBatch, OfAWindowKnowsTheStepsOfTheWindowAlone) {
  const std::unique_ptr<Problem> problem = MakeGridProblem({.ops = 40, .devices = 3, .ccr = 1}, 4);
  const Environment& environment = problem->environment();
  const std::unique_ptr<PreparedPolicy> policy = MakeUniformPolicy()->Prepare(environment, kBatchTemperature);
  const Assignment plan = GreedyTrajectory(environment, *policy).assignment;
  TrajectoryBatch batch;
  const BatchSettings settings{.trajectories = 6, .recorded_share = 1};
  const std::vector<Trajectory> trajectories =
      SampleWindowBatch(environment, *policy, kBatchTemperature, settings, plan, {35, 9}, Random(1), batch);
  EXPECT_EQ(batch.sampled.drawn_steps, 5);  // the plan ends
  EXPECT_EQ(batch.steps.groups.steps(), 6u * 5u);
  ASSERT_EQ(batch.sampled.log_reward.size(), 6u);
  for (std::size_t i = 0; i < trajectories.size(); ++i) {
    EXPECT_EQ(batch.sampled.log_reward[i],
              LogReward(environment, trajectories[i].makespan, kBatchTemperature, RewardForm::kSizeScaled));
    double sum = 0;
    for (std::size_t step = 0; step < batch.steps.groups.steps(); ++step) {
      if (batch.steps.groups.trajectory[step] == static_cast<int>(i))
        sum += batch.steps.groups.log_probability[step] + batch.steps.devices.log_probability[step];
    }
    EXPECT_NEAR(batch.sampled.log_forward[i], sum, 1e-4);
  }
}

TEST(TrajectoryBatch, OfDemonstrationsScoresTheGivenActions) {
  const std::unique_ptr<Problem> problem = MakeGridProblem({.ops = 20, .devices = 3, .ccr = 1}, 4);
  const Environment& environment = problem->environment();
  const std::unique_ptr<PreparedPolicy> policy = MakeUniformPolicy()->Prepare(environment, kBatchTemperature);
  TrajectoryBatch sampled, given;
  std::vector<std::vector<Action>> actions;
  for (const Trajectory& trajectory :
       SampleBatch(environment, *policy, kBatchTemperature, {.trajectories = 5}, Random(1), sampled)) {
    actions.push_back(trajectory.actions);
  }
  MakeDemonstrationBatch(environment, *policy, kBatchTemperature, actions, {.recorded_share = 1}, Random(2), given);
  EXPECT_TRUE(given.demonstration);
  EXPECT_EQ(given.sampled.log_forward, sampled.sampled.log_forward);
  EXPECT_EQ(given.sampled.log_reward, sampled.sampled.log_reward);
  EXPECT_EQ(given.steps.groups.steps(), 5u * 20u);
}

}  // namespace
}  // namespace millrace
