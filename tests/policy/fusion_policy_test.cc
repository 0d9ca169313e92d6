// SPDX-License-Identifier: Apache-2.0
#include "millrace/policy/fusion_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/policy/learned_fusion.h"
#include "millrace/policy/message_passing.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

TEST(FusionPolicy, EveryOneGivesFiniteLogitsThatDependOnWhatItIsShownAlone) {
  std::vector<std::unique_ptr<FusionPolicy>> policies;
  policies.push_back(MakeUniformFusionPolicy());
  policies.push_back(MakeSavingFusionPolicy(2));
  Random weighing(1);
  Weights weights = InitialFusionWeights(weighing);
  for (auto& entry : weights.tensors) {
    for (float& value : entry.second.values) value += static_cast<float>(weighing.Normal());
  }
  policies.push_back(MakeLearnedFusionPolicy(weights));
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

TEST(FusionPolicy, TheLearnedOneStartsAsTheSavingOne) {
  Random random(1);
  const auto learned = MakeLearnedFusionPolicy(InitialFusionWeights(random));
  MergeObservation observation;
  observation.features.fill(0.3f);
  for (const double saved : {-2.0, 0.0, 0.7}) {
    observation.saved = saved;
    for (const double temperature : {0.01, 1.0}) EXPECT_NEAR(learned->Logit(observation, temperature), saved, 1e-6);
  }
}

TEST(FusionPolicy, TheLearnedOneRefusesOtherWeights) {
  Random random(1);
  Weights weights = InitialFusionWeights(random);
  weights.tensors.at("first.weight").shape = {1, 1};
  EXPECT_THROW(MakeLearnedFusionPolicy(weights), InvalidInput);
  EXPECT_THROW(MakeLearnedFusionPolicy(InitialMessagePassingWeights(random)), InvalidInput);
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
