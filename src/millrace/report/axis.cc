// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace millrace {

double Axis::At(double number) const {
  const double share = logarithmic ? std::log(number / low) / std::log(high / low) : (number - low) / (high - low);
  return from + share * (to - from);
}

std::vector<double> Axis::Ticks() const {
  constexpr int kWanted = 5;
  return logarithmic ? LogarithmicTicks(low, high) : AxisTicks(low, high, kWanted);
}

Axis AxisAround(double low, double high, double from, double to, bool logarithmic) {
  if (logarithmic && low > 0) {
    const double margin = std::max(std::pow(high / low, 0.06), 1.02);
    return Axis{low / margin, high * margin, from, to, true};
  }
  const double margin = std::max(0.06 * (high - low), 0.02 * high);
  return Axis{std::max(0.0, low - margin), high + margin + std::numeric_limits<double>::min(), from, to, false};
}

std::vector<double> AxisTicks(double low, double high, int wanted) {
  if (!(high > low)) return {low};
  const double rough = (high - low) / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {5.0, 2.0, 1.0}) {
    if (nice * power >= rough) step = nice * power;
  }
  std::vector<double> ticks;
  for (double tick = std::ceil(low / step); tick * step <= high * (1 + 1e-9); ++tick) ticks.push_back(tick * step);
  return ticks;
}

std::vector<double> LogarithmicTicks(double low, double high) {
  constexpr double kFewDecades = 2.5;
  constexpr double kMostTicks = 6;
  const double decades = std::log10(high / low);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / kMostTicks)));
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, power) <= high; power += every) {
    for (const double times : {1.0, 2.0, 5.0}) {
      const double tick = times * std::pow(10.0, power);
      if ((times == 1 || decades < kFewDecades) && tick >= low && tick <= high) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace millrace
