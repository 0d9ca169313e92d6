// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "millrace/runtime/kernel.h"
#include "millrace/vector/vector_loops.h"

// Linear quantisation as ONNX has it: real = scale x (stored - zero point), one scale for a whole tensor or one for
// each index along an axis. Source: the ONNX operators QuantizeLinear and DequantizeLinear.
namespace millrace {

// The smallest and the largest number that a type of at most 16 bits stores; nothing for other types.
struct StoredRange {
  std::int32_t low = 0;
  std::int32_t high = 0;
};
std::optional<StoredRange> StoredRangeOf(DataType type);

struct Quantization {
  std::vector<float> scale;
  std::vector<std::int32_t> zero_point;  // as many

  bool whole() const { return scale.size() == 1; }
};

// The scale that is input `scale` of the node, and the zero point after it: 0 where that is left out. Nothing where one
// of them is computed while the model runs, they are of different lengths, or a scale is not finite or not above zero.
std::optional<Quantization> QuantizationAt(const Model& model, const Node& node, std::size_t scale);

// The zero points alone that are input `at` of the node, 0 where it is left out; nothing where they are computed.
std::optional<std::vector<std::int32_t>> ZeroPointsAt(const Model& model, const Node& node, std::size_t at);

// The whole number nearest to `number`, ties to even, within [low, high], which are whole numbers of at most 2^22
// either way; `low` for what is no number. Plain enough for the compiler to vectorise.
MILLRACE_INLINE float RoundedWithin(float number, float low, float high) {
  constexpr float kAllWhole = 12582912.0f;  // 1.5 x 2^23: from here on floats have no fraction
  const float above = number > low ? number : low;
  const float within = above < high ? above : high;
  return (within + kAllWhole) - kAllWhole;
}

// Stores numbers: round(number / scale) + zero point, within the type's range.
template <typename Stored>
MILLRACE_INLINE void Quantize(const float* in, Stored* out, std::int64_t count, float scale, float zero_point) {
  constexpr auto kLow = static_cast<float>(std::numeric_limits<Stored>::min());
  constexpr auto kHigh = static_cast<float>(std::numeric_limits<Stored>::max());
  for (std::int64_t i = 0; i < count; ++i) {
    const float whole = RoundedWithin(in[i] / scale, kLow - zero_point, kHigh - zero_point) + zero_point;
    out[i] = static_cast<Stored>(static_cast<std::int32_t>(whole));
  }
}

}  // namespace millrace
