// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/binary_loops.h"

namespace millrace {
namespace {

constexpr std::size_t kBoth[] = {0, 1};

BinaryLoops::Loop LoopFor(const BinaryLoops& loops, Broadcast::Pace a, Broadcast::Pace b) {
  using Pace = Broadcast::Pace;
  if (b == Pace::kLanes) return loops.lanes_right;
  if (a == Pace::kLanes) return loops.lanes_left;
  if (b == Pace::kOne) return loops.one_right;
  return a == Pace::kOne ? loops.one_left : loops.each;
}

}  // namespace

BinaryStep::BinaryStep(const BinaryLoops& loops, const StepShape& shape, std::size_t a_bytes, std::size_t b_bytes,
                       std::size_t out_bytes)
    : broadcast_(shape, kBoth, loops.lanes_right != nullptr),
      loop_(LoopFor(loops, broadcast_.pace(0), broadcast_.pace(1))),
      bytes_{a_bytes, b_bytes},
      out_bytes_(out_bytes) {}

void BinaryStep::Apply(const std::byte* const* operands, std::byte* out, std::int64_t begin, std::int64_t count) const {
  broadcast_.ForRows(
      operands, bytes_, out, out_bytes_, begin, count,
      [this](const std::byte* const* at, std::byte* to, std::int64_t length) { loop_(at[0], at[1], to, length); });
}

}  // namespace millrace
