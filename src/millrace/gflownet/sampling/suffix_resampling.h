// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/gflownet/sampling/softmax_temperature.h"
#include "millrace/planning/planner.h"

// Suffix resampling: another planner makes some plans; then the first steps of the best plan so far are kept, up to a
// step drawn evenly, and the policy draws the others anew. What continues a good prefix is better than what is drawn
// from scratch, and less of it has to be drawn.
//
// Source of the idea: Kim et al., "Local Search GFlowNets", ICLR 2024. There plans are taken apart by P_B and kept by
// their reward. Here they are taken apart in the order they were built in, and only the best is kept.
namespace millrace {

struct SuffixResamplingOptions {
  std::vector<double> reward_temperatures = SamplingPlannerOptions().reward_temperatures;  // in turn
  SoftmaxTemperature softmax_temperature;                                                  // of the suffixes
  double share = 0.5;  // share of the samples, and of the seconds if they are limited, that suffixes get
  int round = 8;       // number of suffixes drawn after one best plan before another may take its place
  int threads = 1;
};

// Offers (1 - share) * budget.samples plans of the planner, then plans with a suffix drawn anew, together as many as
// the planner alone would offer. Plans that do not fit in memory are offered but their prefixes are not used. Offers
// are the same at any number of threads.
std::unique_ptr<Planner> MakeSuffixResampling(PlannerTraits traits, std::shared_ptr<const Planner> planner,
                                              std::shared_ptr<const Policy> policy,
                                              const SuffixResamplingOptions& options);

}  // namespace millrace
