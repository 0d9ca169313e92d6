// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/runtime/kernel.h"

// Changing the layout of a tensor: float32 of four dimensions to and from blocks, bytes to and from channels innermost.
namespace millrace {

inline constexpr std::int64_t kBlock = 16;  // channels in a block of Layout::kBlocked16

// True if a tensor of this type and shape may lie in blocks.
bool CanBeBlocked(DataType type, const Shape& shape);

// Worker `worker` of `workers` writes its share of `source`, which lies as `spec` says, to `destination` in layout
// `wanted`. Padding is written as zeros. The shares of all workers together are the whole tensor; no order between
// them.
void Reorder(const TensorSpec& spec, const std::byte* source, Layout wanted, std::byte* destination, int workers,
             int worker);

}  // namespace millrace
