// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

// How unbounded numbers enter a network.
namespace millrace {

// x near 0, the square root of |x| with its sign far away: keeps both a tenth and a hundred apart from their like, and
// costs a square root and a division, where a logarithm would be most of the price of a step.
inline float Squash(float x) { return x / std::sqrt(1.0f + std::fabs(x)); }

// The same of a number that a float may not hold: beyond +-1e12 it does not grow any more.
inline float SquashCutOff(double x) { return Squash(static_cast<float>(std::clamp(x, -1e12, 1e12))); }

}  // namespace millrace
