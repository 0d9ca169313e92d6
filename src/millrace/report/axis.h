// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// Axes of charts: a stretch of numbers laid over a stretch of pixels, linear or logarithmic.
namespace millrace {

struct Axis {
  double low = 0, high = 1;  // logarithmic: both > 0
  double from = 0, to = 1;   // pixels
  bool logarithmic = false;

  double At(double number) const;
  std::vector<double> Ticks() const;
};

// An axis with a margin around the numbers from `low` to `high`, both >= 0. It is logarithmic if it is asked for and
// the numbers are above 0.
Axis AxisAround(double low, double high, double from, double to, bool logarithmic);

// Round numbers between `low` and `high`, about `wanted` of them.
std::vector<double> AxisTicks(double low, double high, int wanted);

// The same for a logarithmic axis: powers of ten, and 2 and 5 times these where there are few. `low` is above 0.
std::vector<double> LogarithmicTicks(double low, double high);

}  // namespace millrace
