// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "millrace/random/random.h"
#include "millrace/runtime/aligned_memory.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

// A buffer of a one-worker program: written by step `writer`, last read by step `reader`.
BufferLife InSequence(std::size_t bytes, std::uint32_t writer, std::uint32_t reader) {
  return {.bytes = bytes, .born = {writer}, .dead = {reader + 1}, .kept = false};
}

void ExpectNothingOverlaps(const std::vector<BufferLife>& buffers, const MemoryLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), buffers.size());
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    EXPECT_EQ(layout.offsets[a] % kMemoryAlignment, 0u);
    EXPECT_LE(layout.offsets[a] + buffers[a].bytes, layout.bytes);
    for (std::size_t b = 0; b < a; ++b) {
      if (!InUseTogether(buffers[a], buffers[b])) continue;
      const bool apart = layout.offsets[a] + buffers[a].bytes <= layout.offsets[b] ||
                         layout.offsets[b] + buffers[b].bytes <= layout.offsets[a];
      EXPECT_TRUE(apart) << "buffers " << a << " and " << b;
    }
  }
}

TEST(MemoryPlanner, AChainOfEqualTensorsNeedsTwoPlaces) {
  std::vector<BufferLife> buffers;
  for (std::uint32_t step = 0; step < 50; ++step) buffers.push_back(InSequence(1024, step, step + 1));
  const MemoryLayout layout = PlanMemory(buffers);
  ExpectNothingOverlaps(buffers, layout);
  EXPECT_EQ(layout.bytes, 2048u);
}

TEST(MemoryPlanner, WhatAStepReadsAndWhatItWritesAreInUseTogether) {
  EXPECT_TRUE(InUseTogether(InSequence(1, 0, 1), InSequence(1, 1, 2)));
  EXPECT_FALSE(InUseTogether(InSequence(1, 0, 1), InSequence(1, 2, 3)));
}

TEST(MemoryPlanner, BuffersOfWorkersThatDoNotWaitForEachOtherNeverShare) {
  const BufferLife on_first = {.bytes = 64, .born = {0, 0}, .dead = {1, 0}, .kept = false};
  const BufferLife on_second = {.bytes = 64, .born = {0, 5}, .dead = {0, 6}, .kept = false};
  EXPECT_TRUE(InUseTogether(on_first, on_second));
  const BufferLife after_waiting = {.bytes = 64, .born = {1, 6}, .dead = {0, 7}, .kept = false};
  EXPECT_FALSE(InUseTogether(on_first, after_waiting));
}

TEST(MemoryPlanner, KeptBuffersShareWithNobody) {
  std::vector<BufferLife> buffers = {InSequence(64, 0, 0), InSequence(64, 5, 5)};
  EXPECT_EQ(PlanMemory(buffers).bytes, 64u);
  buffers[0].kept = true;
  EXPECT_EQ(PlanMemory(buffers).bytes, 128u);
}

TEST(MemoryPlanner, BuffersOfGangsShareTheirMiddles) {
  std::vector<BufferLife> buffers;
  for (std::uint32_t step = 0; step < 8; ++step) {
    buffers.push_back(InSequence(step % 4 < 2 ? 4096 : 1024, step, step + 1));
    buffers.back().writers = Writers::kHalves;
  }
  const MemoryLayout layout = PlanMemory(buffers);
  ExpectNothingOverlaps(buffers, layout);
  EXPECT_EQ(layout.bytes, 2 * 4096u);
  EXPECT_EQ(layout.offsets[2], layout.offsets[0] + 1536);
}

TEST(MemoryPlanner, MiddlesAreGivenUpWhereTheyTakeFarMore) {
  // One large tensor, later many small ones at once: slots as large as the large one would not be shared by the small.
  std::vector<BufferLife> buffers = {InSequence(64 * 20, 0, 0)};
  for (int small = 0; small < 20; ++small) buffers.push_back(InSequence(64, 5, 6));
  for (BufferLife& life : buffers) life.writers = Writers::kHalves;
  EXPECT_EQ(PlanMemory(buffers).bytes, 64 * 20u);
  EXPECT_EQ(PlanMemory(buffers, {.most_for_halves = 2}).bytes, 64 * 39u);
}

TEST(MemoryPlanner, EmptyBuffersStillHaveAPlace) {
  const std::vector<BufferLife> buffers = {InSequence(0, 0, 3), InSequence(0, 1, 3), InSequence(10, 0, 3)};
  const MemoryLayout layout = PlanMemory(buffers);
  ExpectNothingOverlaps(buffers, layout);
  EXPECT_NE(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(PlanMemory({}).bytes, 0u);
}

TEST(MemoryPlanner, RandomLivesNeverOverlapAndNeedNoMoreThanTheirSum) {
  constexpr std::array kKinds = {Writers::kOne, Writers::kHalves, Writers::kMixed};
  Random random(7);
  for (int round = 0; round < testing::Rounds(60); ++round) {
    const std::size_t workers = 1 + random.Below(3);
    std::vector<BufferLife> buffers(1 + random.Below(60));
    std::size_t sum = 0;
    for (BufferLife& life : buffers) {
      life.bytes = random.Below(5000);
      life.kept = random.Below(10) == 0;
      life.writers = kKinds[random.Below(kKinds.size())];
      for (std::size_t worker = 0; worker < workers; ++worker) {
        life.born.push_back(static_cast<std::uint32_t>(random.Below(30)));
        life.dead.push_back(static_cast<std::uint32_t>(random.Below(35)));
      }
      // A writer touches its own buffer: on some worker the life ends after it began.
      const std::size_t writer = random.Below(workers);
      life.dead[writer] = std::max(life.dead[writer], life.born[writer] + 1);
      sum += AlignedSize(std::max<std::size_t>(life.bytes, 1));
    }
    const MemoryLayout layout = PlanMemory(buffers);
    ExpectNothingOverlaps(buffers, layout);
    EXPECT_LE(layout.bytes, sum);
  }
}

}  // namespace
}  // namespace millrace
