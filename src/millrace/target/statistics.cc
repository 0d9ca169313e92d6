// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "millrace/random/random.h"

namespace millrace {
namespace {

double SortedQuantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double at = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> MeanRanks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double mean = static_cast<double>(first + last) / 2;
    for (std::size_t i = first; i <= last; ++i) ranks[order[i]] = mean;
    first = last + 1;
  }
  return ranks;
}

}  // namespace

double Quantile(std::span<const double> values, double q) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return SortedQuantile(sorted, q);
}

double Median(std::span<const double> values) { return Quantile(values, 0.5); }

Interval RatioOfMedians(std::span<const double> of, std::span<const double> to, const RatioOptions& options) {
  Random random(options.seed);
  std::vector<double> ratios, above(of.size()), below(to.size());
  for (int resample = 0; resample < options.resamples; ++resample) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      const std::size_t chosen = random.Below(of.size());
      above[i] = of[chosen];
      if (options.paired) below[i] = to[chosen];
    }
    if (!options.paired) {
      for (double& value : below) value = to[random.Below(to.size())];
    }
    ratios.push_back(Median(above) / Median(below));
  }
  std::sort(ratios.begin(), ratios.end());
  const double outside = (1 - options.confidence) / 2;
  return {SortedQuantile(ratios, outside), SortedQuantile(ratios, 1 - outside)};
}

Interval MedianInterval(std::span<const double> values, double confidence, int resamples) {
  Random random(0);
  std::vector<double> medians, drawn(values.size());
  for (int resample = 0; resample < resamples; ++resample) {
    for (double& value : drawn) value = values[random.Below(values.size())];
    medians.push_back(Median(drawn));
  }
  std::sort(medians.begin(), medians.end());
  const double outside = (1 - confidence) / 2;
  return {SortedQuantile(medians, outside), SortedQuantile(medians, 1 - outside)};
}

double RankCorrelation(std::span<const double> a, std::span<const double> b) {
  const double undefined = std::numeric_limits<double>::quiet_NaN();
  if (a.size() != b.size() || a.size() < 2) return undefined;
  const std::vector<double> ranks_a = MeanRanks(a), ranks_b = MeanRanks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    of_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    of_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  return of_a == 0 || of_b == 0 ? undefined : both / std::sqrt(of_a * of_b);
}

double CorrelationToldApart(std::span<const double> a, std::span<const Interval> b) {
  double agree = 0, pairs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      if (!(b[i].high < b[j].low)) continue;
      ++pairs;
      agree += a[i] < a[j] ? 1 : a[i] > a[j] ? -1 : 0;
    }
  }
  return pairs == 0 ? std::numeric_limits<double>::quiet_NaN() : agree / pairs;
}

}  // namespace millrace
