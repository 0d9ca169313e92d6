// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/weight_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "millrace/errors/errors.h"
#include "millrace/runtime/aligned_memory.h"

namespace millrace {
namespace {

TEST(WeightCache, MakesABufferOnceWhileSomebodyHoldsIt) {
  WeightCache cache;
  int fills = 0;
  const auto fill = [&](std::byte* bytes) { bytes[0] = static_cast<std::byte>(++fills); };
  auto first = cache.Get("conv1", 100, fill);
  const auto second = cache.Get("conv1", 100, fill);
  EXPECT_EQ(first, second);
  EXPECT_EQ(fills, 1);
  EXPECT_NE(cache.Get("conv2", 100, fill), first);
  EXPECT_EQ(fills, 2);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.get()) % kMemoryAlignment, 0u);
}

TEST(WeightCache, LetsGoOfWhatNobodyHolds) {
  WeightCache cache;
  int fills = 0;
  const auto fill = [&](std::byte*) { ++fills; };
  auto held = cache.Get("a", 64, fill);
  EXPECT_EQ(cache.bytes(), 64u);
  held.reset();
  EXPECT_EQ(cache.bytes(), 0u);
  held = cache.Get("a", 128, fill);
  EXPECT_EQ(fills, 2);
}

TEST(WeightCache, TellsWhichBuffersAreHeld) {
  WeightCache cache;
  const auto fill = [](std::byte*) {};
  EXPECT_TRUE(cache.Held().empty());
  const auto first = cache.Get("a", 64, fill);
  auto second = cache.Get("b", 100, fill);
  ASSERT_EQ(cache.Held().size(), 2u);
  second.reset();
  ASSERT_EQ(cache.Held().size(), 1u);
  EXPECT_EQ(cache.Held().front().data(), first.get());
  EXPECT_EQ(cache.Held().front().size(), 64u);
}

TEST(WeightCache, RefusesOneKeyForTwoSizes) {
  WeightCache cache;
  const auto held = cache.Get("a", 64, [](std::byte*) {});
  EXPECT_THROW(cache.Get("a", 65, [](std::byte*) {}), InvalidInput);
}

TEST(WeightCache, KeepsNothingOfAFillThatFailed) {
  WeightCache cache;
  EXPECT_THROW(cache.Get("a", 64, [](std::byte*) { throw WorkFailed("no"); }), WorkFailed);
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_NO_THROW(cache.Get("a", 32, [](std::byte*) {}));
}

TEST(AllocateAligned, GivesZeroesSmallAndLarge) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{5} << 20}) {
    const auto memory = AllocateAligned(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % kMemoryAlignment, 0u);
    for (std::size_t i = 0; i < bytes; i += 997) ASSERT_EQ(memory.get()[i], std::byte{0});
  }
}

TEST(AllocateAligned, SaysSoWhereThereIsNoMemory) {
  EXPECT_THROW(AllocateAligned(SIZE_MAX), WorkFailed);
  EXPECT_THROW(AllocateAligned(SIZE_MAX / 4), WorkFailed);
}

}  // namespace
}  // namespace millrace
