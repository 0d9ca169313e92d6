// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/env/environment.h"
#include "millrace/env/reward.h"
#include "millrace/plan/plan.h"
#include "millrace/policy/policy.h"

// What a policy's samples are distributed like, worked out instead of sampled: on graphs of a handful of groups every
// state can be visited, and the probability of a plan is the sum over all the ways to build it.
//
// A sampler is right where P(plan) = R(plan) / Z, Z = the sum of R over all plans: the property that the objectives of
// "Robust Scheduling with GFlowNets" (Zhang et al., 2023) have for their optimum.
namespace millrace {

// Plans differ where their chains or placements do; devices keep their names. Makespan in seconds.
struct ExactPlan {
  Assignment assignment;  // one of the sequences that give these chains
  double makespan = 0;
  double probability = 0;  // 0 only by underflow: every policy reaches every plan within kReadyWindow
};

struct ExactDistribution {
  std::vector<ExactPlan> plans;  // every plan there is, in an order that depends on the environment alone
  std::int64_t states = 0;       // distinct ones visited, the empty and the finished ones included
};

// Forward over states in order of how much is placed, each visited once: P(state) is the sum over its predecessors of
// P(predecessor) x P_F(action). Softmax temperature 1, epsilon 0, sums in doubles. Throws InvalidInput where there are
// more than `most_states` states; 7 groups on 2 devices have some thousands.
ExactDistribution MakeExactDistribution(const Environment& environment, const PreparedPolicy& policy,
                                        std::int64_t most_states = 2'000'000);

// How far the distribution is from R / Z at one reward temperature.
struct RewardFit {
  double total_variation = 0;  // half the sum of |P - R / Z|: 0 right, 1 nothing in common
  double divergence = 0;       // KL(P || R / Z), nats
  double log_partition = 0;    // log Z
  double mean_log_ratio = 0;   // mean under R / Z of log P - log(R / Z), at most 0: -KL(R / Z || P)
};

RewardFit FitToReward(const Environment& environment, const ExactDistribution& distribution, double temperature,
                      RewardForm form = RewardForm::kSizeScaled);

// The same of any plans, by plan: the probability of each and its log R. There is at least one.
RewardFit FitToLogRewards(std::span<const double> probabilities, std::span<const double> log_rewards);

}  // namespace millrace
