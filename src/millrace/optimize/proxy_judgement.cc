// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/proxy_judgement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "millrace/target/statistics.h"

namespace millrace {
namespace {

std::optional<double> IfDefined(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

}  // namespace

ProxyJudgement JudgePredictions(std::span<const double> predicted, const std::vector<const Candidate*>& measured) {
  std::vector<double> seconds, errors;
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    seconds.push_back(*measured[i]->target_seconds);
    intervals.push_back(MedianInterval(measured[i]->times));
    if (seconds.back() > 0) errors.push_back(std::abs(predicted[i] / seconds.back() - 1));
  }
  ProxyJudgement judgement;
  judgement.rank_correlation = IfDefined(RankCorrelation(predicted, seconds));
  judgement.told_apart = IfDefined(CorrelationToldApart(predicted, intervals));
  judgement.median_error = IfDefined(Median(errors));
  if (!seconds.empty()) {
    const auto first = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
    const double best = *std::min_element(seconds.begin(), seconds.end());
    if (best > 0) judgement.first_over_best = seconds[static_cast<std::size_t>(first)] / best;
  }
  return judgement;
}

}  // namespace millrace
