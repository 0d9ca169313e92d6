// SPDX-License-Identifier: Apache-2.0
#include "millrace/vector/lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "millrace/random/random.h"
#include "tests/vector/instruction_sets.h"

namespace millrace {
namespace {

// Sums of `count` blocks of kLanes each.
MILLRACE_INLINE void SumBlocks(const float* lanes, float* sums, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] = SumOfLanes(lanes + i * kLanes);
}

// to = 2 * to + from, over vectors of a width.
template <int Width>
MILLRACE_INLINE void DoubleAndAdd(const float* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += Width)
    VectorAt<Width>(to + i) = 2.0f * VectorAt<Width>(to + i) + VectorAt<Width>(from + i);
}

LaneArray Drawn(std::size_t floats, std::uint64_t seed) {
  LaneArray array(floats);
  Random random(seed);
  for (std::size_t i = 0; i < floats; ++i) array.data()[i] = static_cast<float>(random.Uniform(-1, 1));
  return array;
}

TEST(LaneArray, IsAlignedForTheWidestVectorAndZeroUpToWholeLanes) {
  for (const std::size_t floats : {1, 15, 16, 17, 100}) {
    const LaneArray array(floats);
    ASSERT_NE(array.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % (kLanes * sizeof(float)), 0u);
    for (std::size_t i = 0; i < (floats + kLanes - 1) / kLanes * kLanes; ++i) EXPECT_EQ(array.data()[i], 0.0f);
  }
}

TEST(LaneArray, OfNothingHasNoAddress) {
  EXPECT_EQ(LaneArray().data(), nullptr);
  EXPECT_EQ(LaneArray(0).data(), nullptr);
}

TEST(LaneArray, KeepsItsFloatsWhenCopiedAndMoved) {
  const LaneArray array = Drawn(20, 1);
  LaneArray copy = array;
  copy.data()[3] += 1;
  EXPECT_EQ(copy.data()[3], array.data()[3] + 1);
  const float* const address = copy.data();
  const LaneArray moved = std::move(copy);
  EXPECT_EQ(moved.data(), address);
  EXPECT_EQ(moved.data()[19], array.data()[19]);
}

TEST(Vectors, OfEveryWidthCalculateElementByElement) {
  constexpr std::int64_t kFloats = 4 * kLanes;
  const LaneArray from = Drawn(kFloats, 2), before = Drawn(kFloats, 3);
  const auto expect = [&](auto loop, const char* width) {
    LaneArray to = before;
    loop(from.data(), to.data(), kFloats);
    // Doubling is exact, so that it does not matter whether the sum is rounded once or twice.
    for (std::int64_t i = 0; i < kFloats; ++i)
      EXPECT_EQ(to.data()[i], 2 * before.data()[i] + from.data()[i]) << width << " " << i;
  };
  for (const auto& [name, loop] : testing::VersionsHere<&DoubleAndAdd<kLanesOfBaseline>>()) expect(loop, "4");
  for (const auto& [name, loop] : testing::VersionsHere<&DoubleAndAdd<kLanesOfAvx2>>()) expect(loop, "8");
  for (const auto& [name, loop] : testing::VersionsHere<&DoubleAndAdd<kLanesOfAvx512>>()) expect(loop, "16");
}

TEST(SumOfLanes, IsTheSumAndTheSameToTheLastBitForEveryInstructionSet) {
  constexpr std::int64_t kBlocks = 200;
  const LaneArray lanes = Drawn(kBlocks * kLanes, 4);
  LaneArray first(kBlocks);
  testing::VersionsHere<&SumBlocks>().front().second(lanes.data(), first.data(), kBlocks);
  for (std::int64_t block = 0; block < kBlocks; ++block) {
    double sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum += static_cast<double>(lanes.data()[block * kLanes + lane]);
    EXPECT_NEAR(first.data()[block], sum, 2e-6);
  }
  for (const auto& [name, sum_blocks] : testing::VersionsHere<&SumBlocks>()) {
    LaneArray sums(kBlocks);
    sum_blocks(lanes.data(), sums.data(), kBlocks);
    for (std::int64_t block = 0; block < kBlocks; ++block)
      EXPECT_EQ(sums.data()[block], first.data()[block]) << name << " " << block;
  }
}

TEST(SumOfLanes, CountsEveryLaneOnce) {
  for (int lane = 0; lane < kLanes; ++lane) {
    LaneArray lanes(kLanes);
    lanes.data()[lane] = 1 + static_cast<float>(lane);
    EXPECT_EQ(SumOfLanes(lanes.data()), 1 + static_cast<float>(lane));
  }
}

}  // namespace
}  // namespace millrace
