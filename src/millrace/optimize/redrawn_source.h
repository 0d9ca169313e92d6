// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/heuristics/candidate_source.h"
#include "millrace/policy/policy.h"
#include "millrace/rollout/sampled_source.h"
#include "millrace/rollout/softmax_temperature.h"

// A sampler that goes back: once another source has made some plans, the beginning of the best one so far is kept, up
// to a step drawn evenly, and the policy draws the rest anew. What goes on from good beginnings is better than what is
// drawn from scratch, and less of it has to be drawn.
//
// Source of the idea: Kim et al., "Local Search GFlowNets", ICLR 2024, where plans go back by P_B and are kept by their
// reward; here they go back in the order they were built in and only the best is kept.
namespace millrace {

struct RedrawnSourceOptions {
  std::string name = "gflownet+redraw";
  std::vector<double> temperatures = SampledSourceOptions().temperatures;  // reward temperatures, in turn
  SoftmaxTemperature softmax_temperature;                                  // of what is drawn anew
  double share = 0.5;  // of the samples, and of the seconds where these are limited, that is drawn anew
  int round = 8;       // plans that are drawn from one best plan before another may take its place
  int threads = 1;
};

// Offers (1 - share) * budget.samples plans of the source, then the others, so that as many are offered as the source
// alone would have. Plans that do not fit in memory are offered and never gone back to. Offers are the same at any
// number of threads.
std::unique_ptr<CandidateSource> MakeRedrawnSource(std::shared_ptr<const CandidateSource> source,
                                                   std::shared_ptr<const Policy> policy,
                                                   const RedrawnSourceOptions& options);

}  // namespace millrace
