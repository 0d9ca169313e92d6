// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

// Zeroed memory on a cache-line boundary, for tensors, weights and scratch: what KernelBuffers promises its kernels.
namespace millrace {

inline constexpr std::size_t kMemoryAlignment = 64;

// `bytes` rounded up to whole cache lines.
constexpr std::size_t AlignedSize(std::size_t bytes) {
  return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

// At least `bytes` bytes (never none), zeroed. Blocks of several megabytes ask for huge pages, which come when they
// are first touched. Throws WorkFailed where there is no memory.
std::shared_ptr<std::byte> AllocateAligned(std::size_t bytes);

}  // namespace millrace
