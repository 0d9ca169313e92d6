// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_halves.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "millrace/random/random.h"
#include "millrace/runtime/aligned_memory.h"
#include "tests/reference/sanitized.h"
#include "tests/runtime/random_packing.h"

namespace millrace {
namespace {

constexpr auto kLine = static_cast<std::int64_t>(kMemoryAlignment);

// Buffers of whole cache lines.
PackingProblem RandomLines(Random& random, std::size_t count) {
  PackingProblem problem = testing::RandomProblem(random, count, 40, 200);
  for (std::int64_t& size : problem.sizes) size *= kLine;
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
    const PackingProblem problem = RandomLines(random, 1 + random.Below(80));
    std::vector<Writers> writers(problem.sizes.size());
    for (Writers& of : writers) of = kKinds[random.Below(kKinds.size())];
    const Packing packing = PackByHalves(problem, writers);
    testing::ExpectValid(problem, packing);
    for (std::size_t a = 0; a < writers.size(); ++a) {
      EXPECT_EQ(packing.offsets[a] % kLine, 0);
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
    const PackingProblem problem = RandomLines(random, 1 + random.Below(60));
    const Packing packing = PackByHalves(problem, std::vector<Writers>(problem.sizes.size(), Writers::kOne));
    const Packing first_fit = FirstFit(problem);
    EXPECT_EQ(packing.offsets, first_fit.offsets);
    EXPECT_EQ(packing.height, first_fit.height);
  }
}

}  // namespace
}  // namespace millrace
