// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_halves.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "millrace/random/random.h"
#include "millrace/runtime/aligned_memory.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

constexpr auto kLine = static_cast<std::int64_t>(kMemoryAlignment);

// Buffers of whole cache lines, each in use from one moment of a single order to another.
PackingProblem RandomLives(Random& random, std::size_t count) {
  constexpr std::uint64_t kMoments = 40;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> lives;
  PackingProblem problem;
  problem.conflicts.resize(count);
  for (std::size_t a = 0; a < count; ++a) {
    const std::uint64_t begin = random.Below(kMoments);
    lives.emplace_back(begin, begin + 1 + random.Below(6));
    problem.sizes.push_back((1 + static_cast<std::int64_t>(random.Below(200))) * kLine);
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (a != b && lives[a].first < lives[b].second && lives[b].first < lives[a].second)
        problem.conflicts[a].push_back(static_cast<int>(b));
    }
  }
  return problem;
}

bool Overlap(const PackingProblem& problem, const Packing& packing, std::size_t a, std::size_t b) {
  return packing.offsets[a] < packing.offsets[b] + problem.sizes[b] &&
         packing.offsets[b] < packing.offsets[a] + problem.sizes[a];
}

TEST(MemoryHalves, OfRandomBuffersMeetInTheMiddleWhereTheyShareMemory) {
  constexpr std::array kKinds = {Writers::kOne, Writers::kHalves, Writers::kHalves, Writers::kMixed};
  Random random(5);
  int meetings = 0;
  for (int round = 0; round < testing::Rounds(60); ++round) {
    const PackingProblem problem = RandomLives(random, 1 + random.Below(80));
    std::vector<Writers> writers(problem.sizes.size());
    for (Writers& of : writers) of = kKinds[random.Below(kKinds.size())];
    const Packing packing = PackByHalves(problem, writers);
    for (std::size_t a = 0; a < writers.size(); ++a) {
      EXPECT_GE(packing.offsets[a], 0);
      EXPECT_EQ(packing.offsets[a] % kLine, 0);
      EXPECT_LE(packing.offsets[a] + problem.sizes[a], packing.height);
      for (const int other : problem.conflicts[a])
        EXPECT_FALSE(Overlap(problem, packing, a, static_cast<std::size_t>(other))) << a << " and " << other;
      for (std::size_t b = 0; b < a; ++b) {
        if (writers[a] == Writers::kOne || writers[b] == Writers::kOne || !Overlap(problem, packing, a, b)) continue;
        EXPECT_EQ(writers[a], writers[b]) << a << " and " << b;
        const std::int64_t middle = packing.offsets[a] + problem.sizes[a] / 2;
        EXPECT_LE(std::abs(middle - packing.offsets[b] - problem.sizes[b] / 2), kLine) << a << " and " << b;
        ++meetings;
      }
    }
  }
  EXPECT_GT(meetings, 50);
}

TEST(MemoryHalves, LeaveBuffersOfSingleWorkersWhereTheyWouldBeWithoutThem) {
  Random random(6);
  for (int round = 0; round < testing::Rounds(40); ++round) {
    const PackingProblem problem = RandomLives(random, 1 + random.Below(60));
    const Packing packing = PackByHalves(problem, std::vector<Writers>(problem.sizes.size(), Writers::kOne));
    const Packing first_fit = FirstFit(problem);
    EXPECT_EQ(packing.offsets, first_fit.offsets);
    EXPECT_EQ(packing.height, first_fit.height);
  }
}

}  // namespace
}  // namespace millrace
