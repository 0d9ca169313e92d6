// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "millrace/optimize/candidate.h"

// How well predicted times of plans agree with measured ones. Candidates are measured in the order of their promise, so
// most of them are close to each other: how the prediction ranks all of them says as much about noise as about it.
// Those pairs that the measurements tell apart are counted by themselves.
namespace millrace {

struct ProxyJudgement {
  std::optional<double> rank_correlation;  // Spearman, over all plans; absent where it is undefined
  std::optional<double> told_apart;        // Kendall, over pairs whose 95 % intervals are apart; absent where none are
  std::optional<double> median_error;      // of |predicted / measured - 1|; absent where nothing took any time
  std::optional<double> first_over_best;   // what the plan predicted to be the fastest takes, over the fastest
};

// predicted[i] is in seconds and of measured[i], all of which have target_seconds.
ProxyJudgement JudgePredictions(std::span<const double> predicted, const std::vector<const Candidate*>& measured);

}  // namespace millrace
