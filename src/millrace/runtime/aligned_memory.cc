// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/aligned_memory.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "millrace/errors/errors.h"

namespace millrace {

namespace {

// From here on a block has pages of its own, huge ones where the kernel of the system grants them.
constexpr std::size_t kOwnPages = std::size_t{4} << 20;

}  // namespace

std::shared_ptr<std::byte> AllocateAligned(std::size_t bytes) {
  const std::size_t size = AlignedSize(std::max<std::size_t>(bytes, 1));
  if (size >= bytes && size < kOwnPages) {
    if (void* memory = std::aligned_alloc(kMemoryAlignment, size)) {
      std::memset(memory, 0, size);
      return {static_cast<std::byte*>(memory), [](std::byte* allocated) { std::free(allocated); }};
    }
  } else if (size >= bytes) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
      madvise(memory, size, MADV_HUGEPAGE);
      return {static_cast<std::byte*>(memory), [size](std::byte* mapped) { munmap(mapped, size); }};
    }
  }
  throw WorkFailed(fmt::format("no memory for {} bytes of tensors", bytes));
}

}  // namespace millrace
