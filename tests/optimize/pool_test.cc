// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/pool.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

Pool PoolTaking(const std::vector<std::pair<int, double>>& plans) {
  Pool pool;
  pool.fusions.resize(3);
  for (const auto& [fusion, seconds] : plans) pool.entries.push_back({fusion, "heft", {}, seconds});
  return pool;
}

TEST(Pool, GivesWaysOfFusingThatAreClearlyBehindLessOfASearchesTime) {
  const Pool pool = PoolTaking({{0, 1.3}, {1, 1.2}, {1, 1.0}, {2, 1.01}});
  EXPECT_LT(pool.ShareOf(0), 1);
  EXPECT_GT(pool.ShareOf(0), 0);
  EXPECT_EQ(pool.ShareOf(1), 1);
  EXPECT_EQ(pool.ShareOf(2), 1) << "so little may be made up for";
}

TEST(Pool, GivesAllWaysOfFusingTheSameShareWhileThereIsNoPlan) {
  const Pool pool = PoolTaking({});
  EXPECT_EQ(pool.ShareOf(0), pool.ShareOf(2));
}

}  // namespace
}  // namespace millrace
