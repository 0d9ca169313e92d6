// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/row_operations.h"

#include <cmath>

namespace millrace {
namespace {

constexpr float kLeastVariance = 1e-5f;

template <int Width>
MILLRACE_INLINE void ModulateRows(const float* scale, const float* shift, int width, std::size_t rows, float* values) {
  const Vector<Width> zero = {};
  for (std::size_t row = 0; row < rows; ++row, values += width) {
    for (int at = 0; at < width; at += Width) {
      Vector<Width>& value = VectorAt<Width>(values + at);
      const Vector<Width> moved = value + value * VectorAt<Width>(scale + at) + VectorAt<Width>(shift + at);
      value = moved > zero ? moved : zero;
    }
  }
}

// Sum of a row, or of the squares of its differences from `mean`; lane by lane first.
template <int Width, bool Squared>
MILLRACE_INLINE float SumOfRow(const float* row, int width, float mean) {
  alignas(kLanes * sizeof(float)) float sums[kLanes];
  for (int lane = 0; lane < kLanes; lane += Width) {
    Vector<Width> sum = {};
    for (int at = lane; at < width; at += kLanes) {
      if constexpr (Squared) {
        const Vector<Width> difference = VectorAt<Width>(row + at) - mean;
        sum += difference * difference;
      } else {
        sum += VectorAt<Width>(row + at);
      }
    }
    VectorAt<Width>(sums + lane) = sum;
  }
  return SumOfLanes(sums);
}

template <int Width>
MILLRACE_INLINE void NormaliseRows(const float* weight, const float* bias, int width, std::size_t rows,
                                   const float* values, float* out) {
  for (std::size_t row = 0; row < rows; ++row, values += width, out += width) {
    const auto count = static_cast<float>(width);
    const float mean = SumOfRow<Width, false>(values, width, 0) / count;
    const float variance = SumOfRow<Width, true>(values, width, mean) / count;
    const float factor = 1.0f / std::sqrt(variance + kLeastVariance);
    for (int at = 0; at < width; at += Width) {
      VectorAt<Width>(out + at) =
          VectorAt<Width>(weight + at) * ((VectorAt<Width>(values + at) - mean) * factor) + VectorAt<Width>(bias + at);
    }
  }
}

}  // namespace

void Modulate(const LaneArray& scale, const LaneArray& shift, int width, std::size_t rows, float* values) {
  static const auto modulate =
      BestBodyOf<&ModulateRows<kLanesOfBaseline>, &ModulateRows<kLanesOfAvx2>, &ModulateRows<kLanesOfAvx512>>();
  modulate(scale.data(), shift.data(), width, rows, values);
}

void Normalise(const LaneArray& weight, const LaneArray& bias, int width, std::size_t rows, const float* values,
               float* out) {
  static const auto normalise =
      BestBodyOf<&NormaliseRows<kLanesOfBaseline>, &NormaliseRows<kLanesOfAvx2>, &NormaliseRows<kLanesOfAvx512>>();
  normalise(weight.data(), bias.data(), width, rows, values, out);
}

}  // namespace millrace
