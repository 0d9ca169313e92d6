// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/environment/reward.h"
#include "millrace/gflownet/policy/policy.h"
#include "millrace/plan/plan.h"

// The exact distribution of a policy's samples. On graphs of a handful of groups every state can be visited, and the
// probability of a plan is the sum over all ways to build it.
//
// A sampler is right if P(plan) = R(plan) / Z, where Z is the sum of R over all plans. The objectives of "Robust
// Scheduling with GFlowNets" (Zhang et al., 2023) have this as their optimum.
namespace millrace {

// Two plans are different if their chains or placements are; identical devices are told apart. Makespan in seconds.
struct ExactPlan {
  Assignment assignment;  // one of the sequences that give these chains
  double makespan = 0;
  double probability = 0;  // 0 only by underflow: every policy reaches every plan on so few groups
};

struct ExactDistribution {
  std::vector<ExactPlan> plans;  // all plans, in an order that depends on the environment alone
  std::int64_t states = 0;       // number of distinct states, with the empty and the finished ones
};

// Visits every state once, in order of the number of placed groups: P(state) is the sum over the states before it of
// P(state before) x P_F(action). Softmax temperature 1, epsilon 0, sums in doubles. Throws InvalidInput if there are
// more than `most_states` states; 7 groups on 2 devices have some thousands.
ExactDistribution MakeExactDistribution(const Environment& environment, const PreparedPolicy& policy,
                                        std::int64_t most_states = 2'000'000);

// How far the distribution is from R / Z at one reward temperature.
struct RewardFit {
  double total_variation = 0;  // half the sum of |P - R / Z|: 0 if right, 1 if nothing is in common
  double divergence = 0;       // KL(P || R / Z), nats
  double log_partition = 0;    // log Z
  double mean_log_ratio = 0;   // -KL(R / Z || P), the mean under R / Z of log P - log(R / Z); at most 0
};

RewardFit FitToReward(const Environment& environment, const ExactDistribution& distribution, double temperature,
                      RewardForm form = RewardForm::kSizeScaled);

// The same from the probability and the log R of every plan. There is at least one plan.
RewardFit FitToLogRewards(std::span<const double> probabilities, std::span<const double> log_rewards);

}  // namespace millrace
