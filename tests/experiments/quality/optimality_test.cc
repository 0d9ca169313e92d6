// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/optimality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace millrace {
namespace {

TEST(OptimalityGrid, HasEveryCellOnceEachGraphWithASeedOfItsOwn) {
  const std::vector<QualityInstance> grid = OptimalityGrid(false);
  EXPECT_EQ(grid.size(), 300u);
  std::set<std::uint64_t> seeds;
  for (const QualityInstance& instance : grid) seeds.insert(instance.seed);
  EXPECT_EQ(seeds.size(), grid.size());
  EXPECT_EQ(*seeds.begin(), kQualitySeed + 50'000);
}

TEST(OptimalityGrid, QuicklyIsAPartOfItWithTheSameGraphs) {
  const std::vector<QualityInstance> grid = OptimalityGrid(false), quick = OptimalityGrid(true);
  EXPECT_EQ(quick.size(), 40u);
  for (const QualityInstance& instance : quick) {
    EXPECT_TRUE(instance.ops == 10 || instance.ops == 20);
    const auto same = std::find_if(grid.begin(), grid.end(),
                                   [&instance](const QualityInstance& one) { return one.seed == instance.seed; });
    ASSERT_NE(same, grid.end());
    EXPECT_EQ(same->ops, instance.ops);
    EXPECT_EQ(same->devices, instance.devices);
    EXPECT_EQ(same->family, instance.family);
    EXPECT_EQ(same->ccr, instance.ccr);
  }
}

}  // namespace
}  // namespace millrace
