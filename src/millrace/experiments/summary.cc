// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/summary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "millrace/random/random.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

constexpr int kResamples = 2000;
constexpr double kEqual = 1e-9;

}  // namespace

double Mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double GeometricMean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double Deviation(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (values.size() == 1) return 0;
  const double mean = Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Estimate Bootstrap(std::span<const double> values, const std::function<double(std::span<const double>)>& statistic,
                   std::uint64_t seed) {
  if (values.empty()) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none, none};
  }
  Random random(seed);
  std::vector<double> resample(values.size()), statistics;
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : resample) value = values[random.Below(values.size())];
    statistics.push_back(statistic(resample));
  }
  return {statistic(values), Quantile(statistics, 0.025), Quantile(statistics, 0.975)};
}

std::optional<double> ShareOfGap(double reference, double makespan, double best, double least_gap) {
  if (reference <= best * (1 + least_gap)) return std::nullopt;
  return (reference - makespan) / (reference - best);
}

Duel Compare(std::span<const double> own, std::span<const double> other) {
  Duel duel;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own.size(); ++i) {
    ratios.push_back(other[i] / own[i]);
    if (own[i] < other[i] * (1 - kEqual)) {
      ++duel.wins;
    } else if (own[i] > other[i] * (1 + kEqual)) {
      ++duel.losses;
    } else {
      ++duel.ties;
    }
  }
  duel.ratio = Bootstrap(ratios, GeometricMean);
  return duel;
}

double ChanceOfDifference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  const auto difference = [&](double sum_of_a) {
    return std::abs(sum_of_a / static_cast<double>(a.size()) - (sum - sum_of_a) / static_cast<double>(b.size()));
  };
  double largest = 0;
  for (const double value : all) largest = std::max(largest, std::abs(value));
  const double least = difference(std::accumulate(a.begin(), a.end(), 0.0)) - 1e-12 * largest;
  double ways = 0;
  double as_far = 0;
  for (std::uint32_t in_a = 0; in_a < std::uint32_t{1} << all.size(); ++in_a) {
    if (static_cast<std::size_t>(std::popcount(in_a)) != a.size()) continue;
    double sum_of_a = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((in_a >> i & 1) != 0) sum_of_a += all[i];
    }
    ++ways;
    if (difference(sum_of_a) >= least) ++as_far;
  }
  return as_far / ways;
}

}  // namespace millrace
