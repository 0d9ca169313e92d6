// SPDX-License-Identifier: Apache-2.0
#include "millrace/vector/vector_loops.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/vector/instruction_sets.h"

namespace millrace {
namespace {

MILLRACE_INLINE void AddTo(const float* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += 3 * from[i];
}
MILLRACE_INLINE void SayOne(int* said) { *said = 1; }
MILLRACE_INLINE void SayTwo(int* said) { *said = 2; }
MILLRACE_INLINE void SayThree(int* said) { *said = 3; }

TEST(InstructionSets, TheBestIsOneThatThisProcessorHas) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  EXPECT_EQ(BestInstructionSet() == InstructionSet::kAvx512, avx512);
  EXPECT_EQ(BestInstructionSet() == InstructionSet::kBaseline, !avx2);
}

TEST(Versions, AllDoWhatTheBodySays) {
  for (const std::int64_t count : {0, 1, 3, 4, 15, 16, 17, 100}) {
    std::vector<float> from(static_cast<std::size_t>(count));
    std::iota(from.begin(), from.end(), 1.0f);
    for (const auto& [name, add] : testing::VersionsHere<&AddTo>()) {
      std::vector<float> to(from.size() + 1, 0.5f);
      add(from.data(), to.data(), count);
      for (std::size_t i = 0; i < from.size(); ++i) EXPECT_EQ(to[i], 0.5f + 3 * from[i]) << name;
      EXPECT_EQ(to.back(), 0.5f) << name << " writes past the end";
    }
  }
}

TEST(Versions, TheBestIsTheLastThatThisProcessorCanRun) {
  EXPECT_EQ(Versions<&AddTo>::Best(), testing::VersionsHere<&AddTo>().back().second);
}

TEST(BestBodyOf, IsTheBodyMadeForTheBestInstructionSet) {
  int said = 0;
  BestBodyOf<&SayOne, &SayTwo, &SayThree>()(&said);
  EXPECT_EQ(said, 1 + static_cast<int>(BestInstructionSet()));
}

}  // namespace
}  // namespace millrace
