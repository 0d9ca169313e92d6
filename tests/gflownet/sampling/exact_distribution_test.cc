// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/exact_distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/simulate/timeline.h"
#include "tests/gflownet/environment/random_environment.h"

namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::RandomProblemOptions;

// Leans on what it is shown, so that probabilities differ from state to state.
class LeaningPolicy final : public PreparedPolicy {
 public:
  void ScoreGroups(const State&, const Observation& observation, std::span<float> logits) override {
    Score(observation, kGroupFeatures, logits);
  }
  void ScoreDevices(const State&, int, const Observation& observation, std::span<float> logits) override {
    Score(observation, kDeviceChoiceFeatures, logits);
  }
  std::unique_ptr<PreparedPolicy> Clone() const override { return std::make_unique<LeaningPolicy>(); }

 private:
  static void Score(const Observation& observation, std::size_t width, std::span<float> logits) {
    for (std::size_t i = 0; i < logits.size(); ++i) {
      logits[i] = 0.3f * static_cast<float>(i);
      for (std::size_t k = 0; k < width; ++k)
        logits[i] += 0.2f * static_cast<float>(k % 3) * observation.features[i * width + k];
    }
  }
};

using ChainsAndPlacement = std::pair<std::vector<std::vector<int>>, std::vector<int>>;

ChainsAndPlacement ChainsOf(const CostedGraph& costed, const Assignment& assignment) {
  return {UnitChains(costed.topology, assignment), assignment.placement};
}

// Every way to build every plan, one after the other: action sequences.
void AllTrajectories(const State& state, std::vector<Action>& taken, std::vector<std::vector<Action>>& all) {
  if (state.done()) {
    all.push_back(taken);
    return;
  }
  for (const std::int32_t group : state.ready()) {
    for (int device = 0; device < state.environment().num_devices(); ++device) {
      if (!state.MayRun(group, device)) continue;
      State next = state;
      next.Append({group, device});
      taken.push_back({group, device});
      AllTrajectories(next, taken, all);
      taken.pop_back();
    }
  }
}

RandomProblemOptions FewGroups() {
  RandomProblemOptions options;
  options.most_ops = 5;
  options.most_devices = 3;
  return options;
}

bool HasGang(const CostedGraph& costed) {
  for (int device = 0; device < costed.num_devices; ++device) {
    if (costed.topology.UnitsOf(device) > 1) return true;
  }
  return false;
}

// Problems small enough to walk every trajectory of.
template <typename Check>
void OverTinyProblems(int wanted, Check check) {
  int tried = 0, gangs = 0;
  for (int seed = 0; tried < wanted; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, FewGroups());
    if (problem.costed.num_groups < 3 || problem.environment.reference_makespan() == 0) continue;
    ++tried;
    gangs += HasGang(problem.costed) ? 1 : 0;
    SCOPED_TRACE(seed);
    check(problem);
  }
  EXPECT_GT(gangs, 0);
  EXPECT_LT(gangs, tried);
}

double SumOfProbabilities(const ExactDistribution& distribution) {
  double sum = 0;
  for (const ExactPlan& plan : distribution.plans) sum += plan.probability;
  return sum;
}

TEST(ExactDistribution, IsWhatTheProbabilitiesOfAllTrajectoriesAddUpTo) {
  OverTinyProblems(15, [](const EnvironmentProblem& problem) {
    std::vector<std::vector<Action>> actions;
    std::vector<Action> taken;
    AllTrajectories(State(problem.environment), taken, actions);
    std::vector<std::unique_ptr<PreparedPolicy>> policies;
    policies.push_back(MakeUniformPolicy()->Prepare(problem.environment, 1));
    policies.push_back(std::make_unique<LeaningPolicy>());
    for (const std::unique_ptr<PreparedPolicy>& policy : policies) {
      std::map<ChainsAndPlacement, double> by_plan;
      for (const Trajectory& trajectory :
           RescoreTrajectories(problem.environment, *policy, actions, {}, Random(1), nullptr))
        by_plan[ChainsOf(problem.costed, trajectory.assignment)] += std::exp(trajectory.log_forward);
      const ExactDistribution distribution = MakeExactDistribution(problem.environment, *policy);
      ASSERT_EQ(distribution.plans.size(), by_plan.size());
      for (const ExactPlan& plan : distribution.plans) {
        const auto found = by_plan.find(ChainsOf(problem.costed, plan.assignment));
        ASSERT_NE(found, by_plan.end());
        EXPECT_NEAR(plan.probability, found->second, 1e-5 * found->second);
      }
    }
  });
}

TEST(ExactDistribution, SumsToOneAndKnowsEachPlanOnceWithItsMakespan) {
  OverTinyProblems(25, [](const EnvironmentProblem& problem) {
    const ExactDistribution distribution = MakeExactDistribution(problem.environment, LeaningPolicy());
    EXPECT_NEAR(SumOfProbabilities(distribution), 1, 1e-12);
    Simulator simulator(problem.costed);
    std::set<ChainsAndPlacement> seen;
    for (const ExactPlan& plan : distribution.plans) {
      EXPECT_TRUE(seen.insert(ChainsOf(problem.costed, plan.assignment)).second);
      EXPECT_NEAR(plan.makespan, simulator.Makespan(plan.assignment), 1e-9 * plan.makespan);
    }
    EXPECT_GT(distribution.states, static_cast<std::int64_t>(distribution.plans.size()));
  });
}

TEST(ExactDistribution, WeighsTrajectoriesByForwardAndBackwardProbabilitySoThatTheyAddUpToThePartitionFunction) {
  OverTinyProblems(10, [](const EnvironmentProblem& problem) {
    const LeaningPolicy policy;
    const ExactDistribution distribution = MakeExactDistribution(problem.environment, policy);
    std::map<ChainsAndPlacement, double> probability;
    for (const ExactPlan& plan : distribution.plans)
      probability[ChainsOf(problem.costed, plan.assignment)] = plan.probability;
    std::vector<std::vector<Action>> actions;
    std::vector<Action> taken;
    AllTrajectories(State(problem.environment), taken, actions);
    for (const double temperature : {0.2, 1.0}) {
      // A plan's trajectories, drawn forwards given the plan, weigh P(plan) R P_B / P_F together R: over plans, Z.
      double sum = 0;
      std::map<ChainsAndPlacement, double> backward;
      for (const Trajectory& trajectory :
           RescoreTrajectories(problem.environment, policy, actions, {}, Random(1), nullptr)) {
        const auto plan = ChainsOf(problem.costed, trajectory.assignment);
        const double forward_given_plan = std::exp(trajectory.log_forward) / probability[plan];
        sum += probability[plan] * forward_given_plan *
               std::exp(LogReward(problem.environment, trajectory.makespan, temperature) + trajectory.log_backward -
                        trajectory.log_forward);
        backward[plan] += std::exp(trajectory.log_backward);
      }
      for (const auto& entry : backward) EXPECT_NEAR(entry.second, 1, 1e-9);
      const RewardFit fit = FitToReward(problem.environment, distribution, temperature);
      EXPECT_NEAR(std::log(sum), fit.log_partition, 1e-6);
    }
  });
}

TEST(ExactDistribution, IsAsFarFromTheRewardAsItsProbabilitiesSay) {
  Random random(3);
  const EnvironmentProblem problem(random, FewGroups());
  ExactDistribution distribution =
      MakeExactDistribution(problem.environment, *MakeUniformPolicy()->Prepare(problem.environment, 1));
  const double log_partition = FitToReward(problem.environment, distribution, 0.5).log_partition;
  for (ExactPlan& plan : distribution.plans)
    plan.probability = std::exp(LogReward(problem.environment, plan.makespan, 0.5) - log_partition);
  ASSERT_NEAR(SumOfProbabilities(distribution), 1, 1e-12);
  const RewardFit right = FitToReward(problem.environment, distribution, 0.5);
  EXPECT_NEAR(right.total_variation, 0, 1e-12);
  EXPECT_NEAR(right.divergence, 0, 1e-12);
  EXPECT_NEAR(right.mean_log_ratio, 0, 1e-12);

  ASSERT_GT(distribution.plans.size(), 2u);
  const double moved = distribution.plans[0].probability / 2;
  distribution.plans[0].probability -= moved;
  distribution.plans[1].probability += moved;
  const RewardFit wrong = FitToReward(problem.environment, distribution, 0.5);
  EXPECT_NEAR(wrong.total_variation, moved, 1e-12);
  const double second = distribution.plans[1].probability;
  EXPECT_NEAR(wrong.divergence, moved * std::log(0.5) + second * std::log(second / (second - moved)), 1e-9);
  EXPECT_LT(wrong.mean_log_ratio, 0);
}

TEST(ExactDistribution, RefusesMoreStatesThanAsked) {
  Random random(3);
  const EnvironmentProblem problem(random, FewGroups());
  const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
  try {
    MakeExactDistribution(problem.environment, *policy, 5);
    FAIL() << "visited them all";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("over 5 states"));
  }
}

}  // namespace
}  // namespace millrace
