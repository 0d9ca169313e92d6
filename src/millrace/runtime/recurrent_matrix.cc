// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/recurrent_matrix.h"

#include <algorithm>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

typedef float Vector __attribute__((vector_size(64), may_alias));

// kTogether rows share the loads of a block; how many leave room for the sums depends on the registers there are.
template <int kGates, int kTogether>
MILLRACE_INLINE void MultiplyTogether(const float* const* rows, const float* const* starts, float* const* outs,
                                      const float* block, std::int64_t depth) {
  Vector sums[kTogether][kGates];
  for (int r = 0; r < kTogether; ++r)
    for (int g = 0; g < kGates; ++g) sums[r][g] = reinterpret_cast<const Vector*>(starts[r])[g];
  const Vector* weights = reinterpret_cast<const Vector*>(block);
  for (std::int64_t k = 0; k < depth; ++k, weights += kGates) {
    for (int r = 0; r < kTogether; ++r)
      for (int g = 0; g < kGates; ++g) sums[r][g] += rows[r][k] * weights[g];
  }
  for (int r = 0; r < kTogether; ++r)
    for (int g = 0; g < kGates; ++g) reinterpret_cast<Vector*>(outs[r])[g] = sums[r][g];
}

template <int kGates, int kTogether>
MILLRACE_INLINE void MultiplyBody(const float* const* rows, const float* const* starts, float* const* outs,
                                  std::int64_t count, const float* block, std::int64_t depth) {
  std::int64_t r = 0;
  for (; r + kTogether <= count; r += kTogether)
    MultiplyTogether<kGates, kTogether>(rows + r, starts + r, outs + r, block, depth);
  for (; r < count; ++r) MultiplyTogether<kGates, 1>(rows + r, starts + r, outs + r, block, depth);
}

template <int kGates>
MultiplyBlock BestFor() {
  if (BestInstructionSet() == InstructionSet::kAvx512) return Versions<&MultiplyBody<kGates, kRows>>::Best();
  return Versions<&MultiplyBody<kGates, 1>>::Best();
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
