// SPDX-License-Identifier: Apache-2.0
#include "millrace/rollout/exact_fused_distribution.h"

#include <cmath>
#include <utility>

#include "millrace/env/merge_observation.h"
#include "millrace/env/reward.h"
#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

class Enumeration {
 public:
  Enumeration(FusedSampler& sampler, std::int64_t most_states)
      : sampler_(sampler), observer_(sampler.problem()), most_states_(most_states) {}

  ExactFusedDistribution Run() {
    Answer(FusionState(sampler_.problem()), 0);
    return std::move(distribution_);
  }

 private:
  void Answer(const FusionState& state, double log_probability) {
    StopIfInterrupted();
    if (state.done()) {
      Place(state.groups(), std::exp(log_probability));
      return;
    }
    MergeObservation offered;
    observer_.Observe(state, offered);
    const FusedSampler::LogAnswers answers = sampler_.Answer(offered);
    FusionState accepted = state;
    accepted.Accept();
    Answer(accepted, log_probability + answers.accept);
    FusionState declined = state;
    declined.Decline();
    Answer(declined, log_probability + answers.decline);
  }

  void Place(const FusionGroups& groups, double probability) {
    const auto fused = sampler_.environments().For(groups);
    ExactDistribution placed = MakeExactDistribution(fused->environment, *sampler_.Prepare(fused->environment),
                                                     most_states_ - distribution_.states);
    ++distribution_.fusions;
    distribution_.states += placed.states;
    for (ExactPlan& plan : placed.plans) {
      distribution_.plans.push_back(
          {{groups, std::move(plan.assignment.placement), std::move(plan.assignment.sequence)},
           plan.makespan,
           probability * plan.probability});
    }
  }

  FusedSampler& sampler_;
  MergeObserver observer_;
  std::int64_t most_states_;
  ExactFusedDistribution distribution_;
};

}  // namespace

ExactFusedDistribution MakeExactFusedDistribution(FusedSampler& sampler, std::int64_t most_states) {
  return Enumeration(sampler, most_states).Run();
}

RewardFit FitToReward(const FusedSampler& sampler, const ExactFusedDistribution& distribution) {
  std::vector<double> probabilities, log_rewards;
  probabilities.reserve(distribution.plans.size());
  log_rewards.reserve(distribution.plans.size());
  for (const ExactFusedPlan& plan : distribution.plans) {
    probabilities.push_back(plan.probability);
    log_rewards.push_back(LogReward(sampler.scale(), plan.makespan, sampler.temperature()));
  }
  return FitToLogRewards(probabilities, log_rewards);
}

}  // namespace millrace
