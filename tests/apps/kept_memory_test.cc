// SPDX-License-Identifier: Apache-2.0
#include "command_line/kept_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "tests/reference/sanitized.h"

namespace millrace::cli {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

std::uintptr_t Misalignment(const void* memory, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(memory) % alignment;
}

struct alignas(256) Wide {
  char bytes[256];
};

TEST(KeptMemory, BeginsLargeTablesOnAHugePage) {
  if (testing::kSanitized) GTEST_SKIP() << "a sanitizer keeps the memory of this build";
  KeepFreedMemory();
  for (int round = 0; round < 3; ++round) {
    const std::vector<char> large(5 * kMegabyte), small(kMegabyte);
    const std::vector<Wide> aligned(5 * kMegabyte / sizeof(Wide));
    EXPECT_EQ(Misalignment(large.data(), 2 * kMegabyte), 0u);
    EXPECT_EQ(Misalignment(aligned.data(), 2 * kMegabyte), 0u);
    EXPECT_EQ(large.back(), 0);
  }
}

TEST(KeptMemory, KeepsTheAlignmentAskedForOfSmallTables) {
  const std::vector<Wide> aligned(3);
  EXPECT_EQ(Misalignment(aligned.data(), alignof(Wide)), 0u);
  const auto none = std::make_unique<char[]>(0);
  EXPECT_NE(none, nullptr);
}

TEST(KeptMemory, RefusesWhatNoMemoryHas) {
  if (testing::kSanitized) GTEST_SKIP() << "a sanitizer keeps the memory of this build";
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {most, most - kMegabyte}) {
    EXPECT_THROW(::operator delete(::operator new(bytes)), std::bad_alloc);
    EXPECT_THROW(::operator delete(::operator new(bytes, std::align_val_t(64)), std::align_val_t(64)), std::bad_alloc);
  }
}

}  // namespace
}  // namespace millrace::cli
