// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/random_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace millrace::testing {

PackingProblem ProblemOf(const std::vector<Interval>& intervals) {
  PackingProblem problem;
  problem.conflicts.resize(intervals.size());
  for (std::size_t a = 0; a < intervals.size(); ++a) {
    problem.sizes.push_back(intervals[a].size);
    std::vector<int> cut;
    for (std::size_t b = 0; b < intervals.size(); ++b) {
      if (a != b && intervals[a].begin < intervals[b].end && intervals[b].begin < intervals[a].end)
        problem.conflicts[a].push_back(static_cast<int>(b));
      if (intervals[b].begin <= intervals[a].begin && intervals[a].begin < intervals[b].end)
        cut.push_back(static_cast<int>(b));
    }
    problem.cuts.push_back(std::move(cut));
  }
  return problem;
}

PackingProblem RandomProblem(Random& random, std::size_t count, int moments, std::uint64_t sizes) {
  std::vector<Interval> intervals(count);
  for (Interval& one : intervals) {
    one.begin = static_cast<int>(random.Below(static_cast<std::uint64_t>(moments)));
    one.end = one.begin + 1 + static_cast<int>(random.Below(static_cast<std::uint64_t>(moments) / 2));
    one.size = 1 + static_cast<std::int64_t>(random.Below(sizes));
  }
  return ProblemOf(intervals);
}

void ExpectValid(const PackingProblem& problem, const Packing& packing) {
  ASSERT_EQ(packing.offsets.size(), problem.sizes.size());
  std::int64_t highest = 0;
  for (std::size_t a = 0; a < problem.sizes.size(); ++a) {
    EXPECT_GE(packing.offsets[a], 0);
    highest = std::max(highest, packing.offsets[a] + problem.sizes[a]);
    for (const int other : problem.conflicts[a]) {
      const auto b = static_cast<std::size_t>(other);
      EXPECT_TRUE(packing.offsets[a] + problem.sizes[a] <= packing.offsets[b] ||
                  packing.offsets[b] + problem.sizes[b] <= packing.offsets[a])
          << a << " and " << b;
    }
  }
  EXPECT_EQ(packing.height, highest);
}

}  // namespace millrace::testing
