// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/recurrent_matrix.h"

#include <algorithm>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

// As wide as a register of each instruction set: of wider ones the compiler keeps the sums in memory.
typedef float Vector512 __attribute__((vector_size(64), may_alias));
typedef float Vector256 __attribute__((vector_size(32), may_alias));
typedef float Vector128 __attribute__((vector_size(16), may_alias));

// kTogether rows share the loads of a block, kChunk of its vectors at a time: so many sums fit in the registers.
template <typename Vector, int kGates, int kTogether, int kChunk>
MILLRACE_INLINE void MultiplyTogether(const float* const* rows, const float* const* starts, float* const* outs,
                                      const float* block, std::int64_t depth) {
  constexpr int kVectors = kGates * static_cast<int>(kUnits * sizeof(float) / sizeof(Vector));
  static_assert(kVectors % kChunk == 0);
  for (int chunk = 0; chunk < kVectors; chunk += kChunk) {
    Vector sums[kTogether][kChunk];
    for (int r = 0; r < kTogether; ++r)
      for (int v = 0; v < kChunk; ++v) sums[r][v] = reinterpret_cast<const Vector*>(starts[r])[chunk + v];
    const Vector* weights = reinterpret_cast<const Vector*>(block) + chunk;
    for (std::int64_t k = 0; k < depth; ++k, weights += kVectors) {
      for (int r = 0; r < kTogether; ++r)
        for (int v = 0; v < kChunk; ++v) sums[r][v] += rows[r][k] * weights[v];
    }
    for (int r = 0; r < kTogether; ++r)
      for (int v = 0; v < kChunk; ++v) reinterpret_cast<Vector*>(outs[r])[chunk + v] = sums[r][v];
  }
}

// Rows by fours, the rest one by one with up to eight vectors of the block at a time.
template <typename Vector, int kGates, int kChunk>
MILLRACE_INLINE void MultiplyBody(const float* const* rows, const float* const* starts, float* const* outs,
                                  std::int64_t count, const float* block, std::int64_t depth) {
  constexpr int kVectors = kGates * static_cast<int>(kUnits * sizeof(float) / sizeof(Vector));
  constexpr int kAlone = kVectors > 8 ? kVectors / kGates : kVectors;
  std::int64_t r = 0;
  for (; r + kRows <= count; r += kRows)
    MultiplyTogether<Vector, kGates, kRows, kChunk>(rows + r, starts + r, outs + r, block, depth);
  for (; r < count; ++r) MultiplyTogether<Vector, kGates, 1, kAlone>(rows + r, starts + r, outs + r, block, depth);
}

template <int kGates>
MultiplyBlock BestFor() {
  return BestBodyOf<&MultiplyBody<Vector128, kGates, 2>, &MultiplyBody<Vector256, kGates, 2>,
                    &MultiplyBody<Vector512, kGates, kGates>>();
}

}  // namespace

GateWeights::GateWeights(const float* weights, std::span<const std::int64_t> gate_rows, std::int64_t hidden,
                         std::int64_t depth)
    : gates_(static_cast<std::int64_t>(gate_rows.size())), depth_(depth) {
  const std::int64_t blocks = (hidden + kUnits - 1) / kUnits;
  const std::shared_ptr<std::byte> memory =
      AllocateAligned(static_cast<std::size_t>(blocks * depth * gates_ * kUnits) * sizeof(float));
  float* to = reinterpret_cast<float*>(memory.get());
  for (std::int64_t unit = 0; unit < hidden; ++unit) {
    for (std::int64_t g = 0; g < gates_; ++g) {
      const float* row = weights + (gate_rows[static_cast<std::size_t>(g)] + unit) * depth;
      float* column = to + (unit / kUnits * depth * gates_ + g) * kUnits + unit % kUnits;
      for (std::int64_t k = 0; k < depth; ++k) column[k * gates_ * kUnits] = row[k];
    }
  }
  packed_ = std::shared_ptr<const float>(memory, to);
}

MultiplyBlock MultiplyBlockFor(std::int64_t gates) {
  switch (gates) {
    case 1:
      return BestFor<1>();
    case 2:
      return BestFor<2>();
    case 3:
      return BestFor<3>();
    default:
      return BestFor<4>();
  }
}

}  // namespace millrace
