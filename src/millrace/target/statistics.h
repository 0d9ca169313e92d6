// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

// The few statistics that measured times call for: by ranks, for times are skewed and have outliers.
namespace millrace {

// The q-quantile, 0 <= q <= 1, linear between order statistics; NaN of nothing.
double Quantile(std::span<const double> values, double q);
double Median(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

// The ratio of the medians of two samples, median(of) / median(to), with the interval that holds it in `confidence` of
// all cases: percentile bootstrap over `resamples` seeded resamples of both (Efron, "Bootstrap Methods: Another Look at
// the Jackknife", 1979). Where sample i of both was taken in the same round, `paired` resamples rounds, which removes
// what slowed both down. Both need at least one value, all > 0, and as many where paired.
struct RatioOptions {
  double confidence = 0.95;
  int resamples = 2000;
  bool paired = true;
  std::uint64_t seed = 0;
};
Interval RatioOfMedians(std::span<const double> of, std::span<const double> to, const RatioOptions& options = {});

// The interval that holds the median of what was sampled in `confidence` of all cases: percentile bootstrap, as above.
// NaN of nothing, and of one value that value alone.
Interval MedianInterval(std::span<const double> values, double confidence = 0.95, int resamples = 1000);

// Spearman's rank correlation, ties at their mean rank; NaN for fewer than two pairs or where one side is constant.
double RankCorrelation(std::span<const double> a, std::span<const double> b);

// Kendall's rank correlation over the pairs whose intervals in `b` do not meet, all others left out: the share of them
// that `a` has in the right order less the share it has in the wrong one. NaN where there is no such pair. Both are as
// long.
double CorrelationToldApart(std::span<const double> a, std::span<const Interval> b);

}  // namespace millrace
