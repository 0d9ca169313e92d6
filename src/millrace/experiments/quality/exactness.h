// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "millrace/experiments/table.h"
#include "millrace/gflownet/policy/policy.h"

// Whether a sampler draws plans in proportion to their reward: on graphs so small that every plan can be listed, its
// exact probabilities (gflownet/sampling/exact_distribution.h) beside R / Z.
namespace millrace {

struct ExactnessOptions {
  std::vector<double> temperatures = {0.1, 0.3, 1};  // reward temperatures
  int fewest_ops = 5;
  int most_ops = 7;
  int graphs = 60;
  int fewest_plans = 100;
  int most_plans = 2000;
  bool features = true;  // also fits the best that features of a choice allow, which takes most of the time
  std::uint64_t seed = 0;
};

// "by temperature": total variation of the policy: its mean with the interval of 95 % over problems, the worst, the
// share of problems within 0.15; and, to compare, that of an untrained policy, of uniform choices and of the best table
// over what a policy sees that embeds the graph once (feature_fit.h), and divergences. "problems": one by one. In turn
// problems have graphs of the five random families, a CCR of 1, 0.2 and 5, and two equal devices, two unlike ones (the
// second half as fast in the mean), or two and both together as a third that takes 0.6 times as long. Seeds begin at
// kQualitySeed + 10'000 + options.seed * 10'000; a graph with too few or too many plans is passed over.
std::vector<Table> Exactness(const Policy& policy, const Policy& untrained, const ExactnessOptions& options,
                             const std::function<void(int, int)>& progress);

}  // namespace millrace
