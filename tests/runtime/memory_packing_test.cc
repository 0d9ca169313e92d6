// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "millrace/random/random.h"
#include "tests/reference/sanitized.h"
#include "tests/runtime/random_packing.h"

namespace millrace {
namespace {

using testing::ExpectValid;
using testing::Interval;
using testing::ProblemOf;
using testing::RandomProblem;

// The lowest packing there is: of every order of the buffers, each at the lowest offset above those before it that it
// conflicts with. Every packing that cannot be pushed down is one of these.
std::int64_t LowestOfAllOrders(const PackingProblem& problem) {
  std::vector<std::size_t> order(problem.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t lowest = std::accumulate(problem.sizes.begin(), problem.sizes.end(), std::int64_t{0});
  do {
    std::vector<std::int64_t> end(order.size(), 0);
    std::int64_t height = 0;
    for (const std::size_t buffer : order) {
      std::int64_t offset = 0;
      for (const int other : problem.conflicts[buffer]) offset = std::max(offset, end[static_cast<std::size_t>(other)]);
      end[buffer] = offset + problem.sizes[buffer];
      height = std::max(height, end[buffer]);
    }
    lowest = std::min(lowest, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return lowest;
}

TEST(MemoryPacking, SmallProblemsAreSolvedAsWellAsByTryingAllOrders) {
  Random random(11);
  int improved = 0;
  for (int round = 0; round < 150; ++round) {
    const PackingProblem problem = RandomProblem(random, 2 + random.Below(6), 8, 9);
    const Packing first = FirstFit(problem);
    const Packing packing = PackLower(problem, first, 2'000'000);
    ExpectValid(problem, packing);
    EXPECT_EQ(packing.height, LowestOfAllOrders(problem)) << "round " << round;
    improved += packing.height < first.height ? 1 : 0;
  }
  EXPECT_GT(improved, 0);
}

TEST(MemoryPacking, ASearchIsNeverWorseThanWhatItBeganWithNorBetterThanTheHighestCut) {
  Random random(12);
  for (int round = 0; round < 30; ++round) {
    const PackingProblem problem = RandomProblem(random, 1 + random.Below(80), 60, 5000);
    const Packing first = FirstFit(problem);
    ExpectValid(problem, first);
    const Packing packing = PackLower(problem, first, 200'000);
    ExpectValid(problem, packing);
    EXPECT_LE(packing.height, first.height);
    EXPECT_GE(packing.height, HighestCut(problem));
  }
}

TEST(MemoryPacking, MoreEffortComesCloserToTheBound) {
  Random random(13);
  double first = 0, little = 0, much = 0;
  const int rounds = testing::Rounds(10);
  for (int round = 0; round < rounds; ++round) {
    const PackingProblem problem = RandomProblem(random, 150, 200, 1000);
    const auto bound = static_cast<double>(HighestCut(problem));
    const Packing start = FirstFit(problem);
    first += static_cast<double>(start.height) / bound;
    little += static_cast<double>(PackLower(problem, start, 3'000'000).height) / bound;
    much += static_cast<double>(PackLower(problem, start, 100'000'000).height) / bound;
  }
  EXPECT_LT(little, first);
  EXPECT_LT(much, little);
  EXPECT_LT(much, rounds * 1.05);
}

TEST(MemoryPacking, TheSameProblemIsPackedAlike) {
  Random random(14);
  const PackingProblem problem = RandomProblem(random, 100, 100, 1000);
  EXPECT_EQ(PackLower(problem, FirstFit(problem), 5'000'000).offsets,
            PackLower(problem, FirstFit(problem), 5'000'000).offsets);
}

TEST(MemoryPacking, NothingNeedsNothing) {
  EXPECT_EQ(HighestCut({}), 0);
  EXPECT_EQ(PackLower({}, FirstFit({}), 1000).height, 0);
}

}  // namespace
}  // namespace millrace
