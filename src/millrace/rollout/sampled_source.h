// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/heuristics/candidate_source.h"
#include "millrace/policy/policy.h"
#include "millrace/rollout/softmax_temperature.h"

// A policy as a source of candidate plans.
namespace millrace {

struct SampledSourceOptions {
  std::string name = "gflownet";
  std::vector<double> temperatures = {0.01, 0.04};  // reward temperatures, each with an equal share of the samples
  SoftmaxTemperature softmax_temperature;
  double epsilon = 0;
  int threads = 1;
};

// Offers budget.samples plans in order of temperature and draw; at each temperature the first is the one of the most
// likely choices. With budget.seconds it stops in time, between batches of plans. Offers are the same at any number of
// threads.
std::unique_ptr<CandidateSource> MakeSampledSource(std::shared_ptr<const Policy> policy,
                                                   const SampledSourceOptions& options);

}  // namespace millrace
