// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/random/random.h"

// Seconds and bytes of graphs that are drawn, not read: what random graphs and task graphs have alike.
//
// Seconds are stated for every device, or per device kind: seconds x the kind's factor x a number drawn uniformly from
// [1 - heterogeneity / 2, 1 + heterogeneity / 2) (the range of Topcuoglu, Hariri and Wu, 2002). Bytes have a mean of
// exactly CCR x mean seconds x 1e9: the communication-to-computation ratio of a link of 1e9 bytes/s.
namespace millrace {

using KindFactors = std::vector<std::pair<std::string, double>>;  // device kind, factor on seconds

inline constexpr std::int64_t kMostDrawnOps = 10'000'000;
inline constexpr double kMostCcr = 1e12;
inline constexpr double kMostHeterogeneity = 2;

// Throws InvalidInput: a number of ops, a ratio, kinds or a heterogeneity out of range.
void CheckDrawnCosts(std::int64_t ops, double ccr, const KindFactors& kinds, double heterogeneity);

// States an op's seconds. `kinds` ascend by name; none: the same everywhere.
void StateSeconds(double seconds, const KindFactors& kinds, double heterogeneity, Random& random, Op& op);

// Over ops that all state seconds; those of an op are the mean over its kinds.
double MeanStatedSeconds(const std::vector<Op>& ops);

// Scales the bytes of all tensors, whose sum is above 0, to the ratio.
void ScaleBytes(double ccr, double mean_seconds, std::vector<Tensor>& tensors);

}  // namespace millrace
