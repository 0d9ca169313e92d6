// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/reference/sanitized.h"

#if defined(MILLRACE_SANITIZED)

namespace millrace::testing {

bool CountsAllocations() { return false; }
std::uint64_t AllocationsSoFar() { return 0; }

}  // namespace millrace::testing

#else

namespace {

std::atomic<std::uint64_t> allocations{0};

void* Count(std::size_t bytes) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes > 0 ? bytes : 1);
}

}  // namespace

namespace millrace::testing {

bool CountsAllocations() { return true; }
std::uint64_t AllocationsSoFar() { return allocations.load(std::memory_order_relaxed); }

}  // namespace millrace::testing

void* operator new(std::size_t bytes) {
  void* memory = Count(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return Count(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return Count(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

#endif
