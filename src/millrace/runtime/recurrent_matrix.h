// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "millrace/runtime/kernel.h"

// The matrix products of recurrent layers: the weights of several gates, in blocks of 16 units, against a few rows.
namespace millrace {

inline constexpr std::int64_t kUnits = 16;  // in a block

// Weights of `gates` gates of a layer of `hidden` units over `depth` inputs, packed [block][depth][gate][16], units
// past the last one zero.
class GateWeights {
 public:
  // Gate g's rows start at row gate_rows[g] of `weights`, which has `depth` columns.
  GateWeights(const float* weights, std::span<const std::int64_t> gate_rows, std::int64_t hidden, std::int64_t depth);

  const float* block(std::int64_t index) const { return packed_.get() + index * depth_ * gates_ * kUnits; }
  std::int64_t depth() const { return depth_; }

 private:
  std::int64_t gates_, depth_;
  std::shared_ptr<const float> packed_;
};

// out[r] = start[r] + row[r] x block, for `count` <= kRows rows; start and out are [gates][16] floats, 64-byte aligned.
inline constexpr std::int64_t kRows = 4;
using MultiplyBlock = void (*)(const float* const* rows, const float* const* starts, float* const* outs,
                               std::int64_t count, const float* block, std::int64_t depth);

// For 1 to 4 gates.
MultiplyBlock MultiplyBlockFor(std::int64_t gates);

}  // namespace millrace
