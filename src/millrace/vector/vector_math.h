// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "millrace/vector/vector_loops.h"

// exp, tanh, the logistic function and erf of float32 without branches or calls, so that loops over them vectorise.
// Absolute error at most 1e-6 (relative for exp); not-a-number passes through.
namespace millrace::vector_math {

// exp(x) = 2^n exp(r) with n the nearest integer to x / ln 2: adding 1.5 * 2^23 leaves n in the low bits of the sum.
// Results below 2^-125.5 become zero, those above the largest float infinity.
MILLRACE_INLINE float Exp(float x) {
  constexpr float kShift = 12582912.0f;
  const float low = x < -87.0f ? -87.0f : x;
  const float bounded = low > 88.8f ? 88.8f : low;
  const float shifted = bounded * 1.44269504f + kShift;
  const float n = shifted - kShift;
  const float r = (bounded - n * 0.693145752f) - n * 1.42860677e-6f;
  float series = 1.0f / 5040.0f;
  series = series * r + 1.0f / 720.0f;
  series = series * r + 1.0f / 120.0f;
  series = series * r + 1.0f / 24.0f;
  series = series * r + 1.0f / 6.0f;
  series = series * r + 0.5f;
  series = series * r + 1.0f;
  series = series * r + 1.0f;
  // Half the power of two first, for 2^128 is no float.
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + 126u) << 23;
  return series * std::bit_cast<float>(exponent) * 2.0f;
}

MILLRACE_INLINE float Logistic(float x) { return 1.0f / (1.0f + Exp(-x)); }

MILLRACE_INLINE float Tanh(float x) {
  const float size = std::fabs(x);
  const float square = x * x;
  const float near =
      x + x * square * (-1.0f / 3 + square * (2.0f / 15 + square * (-17.0f / 315 + square * (62.0f / 2835))));
  const float far = 1.0f - 2.0f / (Exp(2.0f * size) + 1.0f);
  return size < 0.25f ? near : std::copysign(far, x);
}

// Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 7.1.26; the Taylor series near zero.
MILLRACE_INLINE float Erf(float x) {
  const float size = std::fabs(x);
  const float square = x * x;
  const float near =
      1.12837917f * x * (1.0f + square * (-1.0f / 3 + square * (0.1f + square * (-1.0f / 42 + square * (1.0f / 216)))));
  const float t = 1.0f / (1.0f + 0.3275911f * size);
  const float terms =
      t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  const float far = 1.0f - terms * Exp(-square);
  return size < 0.4f ? near : std::copysign(far, x);
}

}  // namespace millrace::vector_math
