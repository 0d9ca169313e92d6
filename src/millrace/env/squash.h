// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

// How unbounded numbers enter a network.
namespace millrace {

// x near 0, the square root of |x| with its sign far away: keeps both a tenth and a hundred apart from their like, and
// costs a square root and a division, where a logarithm would be most of the price of a step.
inline float Squash(float x) { return x / std::sqrt(1.0f + std::fabs(x)); }

}  // namespace millrace
