// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/feature_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/sampling/exact_distribution.h"
#include "tests/gflownet/environment/random_environment.h"

namespace millrace {
namespace {

// Random problems of some groups.
template <typename Check>
void OverProblems(int least, int most, int wanted, Check check) {
  testing::RandomProblemOptions options;
  options.most_ops = most;
  options.most_devices = 2;
  for (std::uint64_t seed = 0; wanted > 0; ++seed) {
    Random random(seed);
    const testing::EnvironmentProblem problem(random, options);
    if (problem.costed.num_groups < least || problem.environment.reference_makespan() == 0) continue;
    --wanted;
    SCOPED_TRACE(seed);
    check(problem.environment, random);
  }
}

TEST(FeatureFit, IsNoFartherThanPoliciesThatSeeTheSame) {
  double sum = 0, of_policies = 0;
  OverProblems(4, 5, 6, [&](const Environment& environment, Random& random) {
    const FeatureFit fit = FitFeatures(environment, 0.3);
    EXPECT_GT(fit.logits, 0);
    sum += fit.total_variation;
    const std::unique_ptr<Policy> policies[] = {MakeUniformPolicy(),
                                                MakeMessagePassingPolicy(InitialMessagePassingWeights(random))};
    for (const std::unique_ptr<Policy>& policy : policies) {
      const RewardFit other =
          FitToReward(environment, MakeExactDistribution(environment, *policy->Prepare(environment, 0.3)), 0.3);
      EXPECT_LE(fit.total_variation, other.total_variation + 1e-3);
      of_policies += other.total_variation / 2;
    }
  });
  EXPECT_LT(sum, 0.5 * of_policies);
}

TEST(FeatureFit, ReachesTheRewardWhereEveryStateShowsWhatItIs) {
  OverProblems(2, 2, 5, [](const Environment& environment, Random&) {
    EXPECT_LT(FitFeatures(environment, 0.5).total_variation, 1e-3);
  });
}

TEST(FeatureFit, RefusesMoreStatesThanAsked) {
  OverProblems(4, 5, 1, [](const Environment& environment, Random&) {
    try {
      FitFeatures(environment, 1, {.most_states = 5});
      FAIL() << "visited them all";
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("over 5"));
    }
  });
}

}  // namespace
}  // namespace millrace
