// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/runtime/kernel.h"

// Changing the layout of a tensor: float32 of four dimensions from any to any other, bytes to and from channels
// innermost.
namespace millrace {

// Channels in a block of Layout::kBlocked, kWideBlock or kNarrowBlock: as many as oneDNN's kernels for this
// processor have lanes, 16 with AVX-512 and 8 without. On any other number its convolutions and pools fall back to
// loops that are ten times slower.
inline constexpr std::int64_t kWideBlock = 16, kNarrowBlock = 8;
std::int64_t ChannelBlock();

// True if a tensor of this type and shape may lie in blocks.
bool CanBeBlocked(DataType type, const Shape& shape);

// True if one may lie with its channels innermost: bytes, and float32 of four dimensions on a processor with AVX-512,
// without which oneDNN has no fast kernels for it.
bool CanHaveChannelsLast(DataType type, const Shape& shape);

// Worker `worker` of `workers` writes its share of `source`, which lies as `spec` says, to `destination` in layout
// `wanted`. Padding is written as zeros. The shares of all workers together are the whole tensor; no order between
// them.
void Reorder(const TensorSpec& spec, const std::byte* source, Layout wanted, std::byte* destination, int workers,
             int worker);

}  // namespace millrace
