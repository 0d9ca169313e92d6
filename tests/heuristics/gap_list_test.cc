// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/gap_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "millrace/random/random.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

// The same question asked of a plain list of what runs when: between two neighbours in time, or after all.
class Intervals {
 public:
  double EarliestFit(double ready, double seconds) const {
    double idle_from = 0;
    for (const auto& [start, finish] : busy_) {
      const double from = std::max(ready, idle_from);
      if (idle_from < start && ready < start && from + seconds <= start) return from;
      idle_from = std::max(idle_from, finish);
    }
    return std::max(ready, idle_from);
  }

  void Occupy(double start, double finish) {
    busy_.emplace_back(start, finish);
    std::sort(busy_.begin(), busy_.end());
  }

 private:
  std::vector<std::pair<double, double>> busy_;
};

TEST(GapList, FindsTheSamePlacesAsAPlainListOfIntervals) {
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(60); ++seed) {
    Random random(seed);
    GapList gaps;
    Intervals intervals;
    // Durations in quarters make exact fits and groups of no length common.
    const double spread = random.Uniform(1.0, 400.0);
    for (int i = 0; i < 600; ++i) {
      const double ready = static_cast<double>(random.Below(4000)) / 4000.0 * spread;
      const double seconds = static_cast<double>(random.Below(8)) * 0.25;
      const double start = gaps.EarliestFit(ready, seconds);
      ASSERT_EQ(start, intervals.EarliestFit(ready, seconds)) << "seed " << seed << ", group " << i;
      gaps.Occupy(start, start + seconds);
      intervals.Occupy(start, start + seconds);
    }
  }
}

TEST(GapList, StartsAtOnceOnAnIdleUnit) {
  GapList gaps;
  EXPECT_EQ(gaps.EarliestFit(3, 2), 3);
  EXPECT_EQ(gaps.end(), 0);
}

TEST(GapList, DoesNotLetALaterGroupRunAcrossOneOfNoLength) {
  GapList gaps;
  gaps.Occupy(10, 11);
  gaps.Occupy(4, 4);
  EXPECT_EQ(gaps.EarliestFit(0, 4), 0);
  EXPECT_EQ(gaps.EarliestFit(0, 5), 4);
  EXPECT_EQ(gaps.EarliestFit(0, 7), 11);
}

TEST(GapList, ForgetsEverythingWhenCleared) {
  GapList gaps;
  gaps.Occupy(5, 6);
  gaps.Clear();
  EXPECT_EQ(gaps.EarliestFit(0, 100), 0);
}

}  // namespace
}  // namespace millrace
