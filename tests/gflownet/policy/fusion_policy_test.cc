// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/fusion_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

TEST(FusionPolicy, EveryOneGivesFiniteLogitsThatDependOnWhatItIsShownAlone) {
  std::vector<std::unique_ptr<FusionPolicy>> policies;
  policies.push_back(MakeUniformFusionPolicy());
  policies.push_back(MakeSavingFusionPolicy(2));
  int offers = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const auto model = MakeAnalyticCostModel(graph, testing::RandomMachine(random));
    const FusionProblem problem(*model);
    FusionState state(problem);
    MergeObserver observer(problem);
    while (!state.done()) {
      MergeObservation observation, again;
      observer.Observe(state, observation);
      MergeObserver(problem).Observe(state, again);
      EXPECT_EQ(observation.features, again.features);
      for (const float feature : observation.features) EXPECT_TRUE(std::isfinite(feature)) << "seed " << seed;
      for (const auto& policy : policies) {
        const double logit = policy->Logit(observation, 0.1);
        EXPECT_TRUE(std::isfinite(logit)) << policy->name();
        EXPECT_EQ(logit, policy->Logit(again, 0.1)) << policy->name();
      }
      ++offers;
      if (random.Below(2) == 0) {
        state.Accept();
      } else {
        state.Decline();
      }
    }
  }
  EXPECT_GT(offers, 100);
}

TEST(FusionPolicy, TheSavingOneAcceptsWhatSavesTime) {
  MergeObservation observation;
  observation.saved = 0.5;
  EXPECT_DOUBLE_EQ(MakeSavingFusionPolicy(4)->Logit(observation, 1), 2);
  EXPECT_DOUBLE_EQ(MakeUniformFusionPolicy()->Logit(observation, 1), 0);
  EXPECT_THROW(MakeSavingFusionPolicy(std::numeric_limits<double>::quiet_NaN()), InvalidInput);
}

}  // namespace
}  // namespace millrace
