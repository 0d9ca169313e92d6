// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/plan/plan.h"
#include "millrace/rollout/exact_distribution.h"
#include "millrace/rollout/fused_sampler.h"

// exact_distribution.h for whole plans, fusion included: the fusion choices come first, then the placement of the
// groups they make.
namespace millrace {

struct ExactFusedPlan {
  Plan plan;  // one of the sequences that give its chains
  double makespan = 0;
  double probability = 0;  // of the answers times that of the placement, given the groups
};

struct ExactFusedDistribution {
  std::vector<ExactFusedPlan> plans;  // every plan that the sampler reaches
  int fusions = 0;                    // ways to fuse among them
  std::int64_t states = 0;            // of placing, over all ways to fuse
};

// Every row of answers, and for each what MakeExactDistribution gives. Throws InvalidInput where there are more than
// `most_states` states.
ExactFusedDistribution MakeExactFusedDistribution(FusedSampler& sampler, std::int64_t most_states = 2'000'000);

// How far from R / Z at the sampler's reward temperature, R by the scale of the graph with every op single.
RewardFit FitToReward(const FusedSampler& sampler, const ExactFusedDistribution& distribution);

}  // namespace millrace
