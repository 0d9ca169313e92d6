// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/replay_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "tests/gflownet/environment/random_environment.h"

namespace millrace {
namespace {

TEST(ReplayBuffer, KeepsTheBestDifferentPlansInOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const testing::EnvironmentProblem problem(random, {});
    const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
    const auto drawn = SampleTrajectories(problem.environment, *policy, 60, {}, Random(seed), nullptr);
    constexpr std::size_t kCapacity = 5;
    ReplayBuffer buffer(problem.costed, kCapacity);
    PlanSet seen(problem.costed);
    std::vector<double> makespans;  // of different plans
    for (const Trajectory& trajectory : drawn) {
      if (seen.Insert(trajectory.assignment)) makespans.push_back(trajectory.makespan);
      buffer.Offer(trajectory.assignment, trajectory.makespan);
    }
    std::sort(makespans.begin(), makespans.end());
    makespans.resize(std::min(makespans.size(), kCapacity));
    std::vector<double> kept;
    PlanSet different(problem.costed);
    for (const KeptPlan& plan : buffer.plans()) {
      kept.push_back(plan.makespan);
      EXPECT_TRUE(different.Insert(plan.assignment));
    }
    EXPECT_EQ(kept, makespans);
  }
}

TEST(ReplayBuffer, RefusesAPlanItHasBeenOffered) {
  Random random(1);
  const testing::EnvironmentProblem problem(random, {});
  const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
  const Trajectory trajectory = GreedyTrajectory(problem.environment, *policy);
  ReplayBuffer buffer(problem.costed, 3);
  EXPECT_TRUE(buffer.Offer(trajectory.assignment, trajectory.makespan));
  EXPECT_FALSE(buffer.Offer(trajectory.assignment, trajectory.makespan));
  EXPECT_EQ(buffer.plans().size(), 1u);
}

}  // namespace
}  // namespace millrace
