// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

// How figures of many instances become one, with how far to trust it.
namespace millrace {

// NaN of nothing. The geometric mean is of numbers > 0.
double Mean(std::span<const double> values);
double GeometricMean(std::span<const double> values);
double Deviation(std::span<const double> values);  // sample standard deviation; 0 of one value

// A statistic of a sample with the interval that holds it in 95 % of cases: percentile bootstrap over 2000 seeded
// resamples (Efron, "Bootstrap Methods: Another Look at the Jackknife", 1979). All NaN of nothing.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};
Estimate Bootstrap(std::span<const double> values, const std::function<double(std::span<const double>)>& statistic,
                   std::uint64_t seed = 0);

// The share of the way from a reference's makespan to the best known one that a method has gone: 1 all of it, 0 none,
// negative where it is worse than the reference. Nothing where the reference is within `least_gap` (a share of the best
// known) of the best: there is nothing to close.
std::optional<double> ShareOfGap(double reference, double makespan, double best, double least_gap = 1e-3);

// How often one is faster than the other, instance by instance. Equal: within a billionth.
struct Duel {
  std::size_t wins = 0, ties = 0, losses = 0;
  Estimate ratio;  // geometric mean of other / own: above 1 where own is faster
  std::size_t instances() const { return wins + ties + losses; }
};
Duel Compare(std::span<const double> own, std::span<const double> other);

// How often two samples differ in their means as much as these do, or more, if chance alone said which value is in
// which: the exact permutation test, of both sides (Fisher, "The Design of Experiments", 1935). 1 where all values are
// equal. Precondition: at most 20 values in all, none of both empty.
double ChanceOfDifference(std::span<const double> a, std::span<const double> b);

}  // namespace millrace
