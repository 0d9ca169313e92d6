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
  int graphs = 4;  // of each number of ops, each also on a machine with a gang, where they have at most one op less
  std::uint64_t seed = 0;
};

// "by temperature": total variation and divergence of the policy and, to compare, of an untrained one, of uniform
// choices, and the total
// variation of the best table over what a policy sees that embeds the graph once (feature_fit.h); means and worst over
// all problems. "problems": one by one. Problems are layered and Erdos-Renyi graphs in turn, at CCR 1, on two
// equal devices, or on two and both together as a third that takes 0.6 times as long. Graph i has seed kQualitySeed +
// 10'000 + options.seed * 1000 + i.
std::vector<Table> Exactness(const Policy& policy, const Policy& untrained, const ExactnessOptions& options,
                             const std::function<void(int, int)>& progress);

}  // namespace millrace
