// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/temperature_promise.h"

#include <gtest/gtest.h>

#include "millrace/optimize/planners.h"

namespace millrace {
namespace {

TEST(Rises, IsNoLongerTrueOfOneStepDown) {
  EXPECT_TRUE(Rises({1, 2, 2, 3}));
  EXPECT_TRUE(Rises({1, 1 - 1e-12}));
  EXPECT_FALSE(Rises({1, 2, 1.999, 3}));
  EXPECT_TRUE(Rises({}));
}

TEST(Promise, CountsTheGraphsThatKeepIt) {
  PromiseResult result{{0.1, 0.2}, {}, {}};
  result.instances.resize(4);
  result.instances[3].ccr = 5;
  result.points = {{{1, 1, 0.1}, {2, 1, 0.2}},   // kept
                   {{2, 1, 0.1}, {1, 1, 0.2}},   // better plans when hotter
                   {{1, 1, 0.2}, {2, 1, 0.1}},   // more alike when hotter
                   {{1, 1, 0.1}, {2, 1, 0.2}}};  // kept
  const Table shares = PromiseTables(result)[0];
  EXPECT_EQ(shares.rows[0][2].numbers[0], 75);
  EXPECT_EQ(shares.rows[0][3].numbers[0], 75);
  EXPECT_EQ(shares.rows[0][4].numbers[0], 50);
  EXPECT_EQ(shares.rows[2][0].text, "CCR 5");
  EXPECT_EQ(shares.rows[2][4].numbers[0], 100);
}

TEST(Promise, IsTestedAtAscendingTemperaturesOnTheSameGraphs) {
  PromiseOptions options;
  options.temperatures = {0.06, 0.01};
  options.families = {"montage"};
  options.ops = {30};
  options.devices = {"4"};
  options.ccr = {1};
  options.samples = 20;
  const PromiseResult result = TestPromise(options, MakePlannerRegistry(), [](int, int) {});
  EXPECT_EQ(result.temperatures, (std::vector<double>{0.01, 0.06}));
  ASSERT_EQ(result.points.size(), 1u);
  ASSERT_EQ(result.points[0].size(), 2u);
  for (const PromisePoint& point : result.points[0]) {
    EXPECT_LE(point.best, point.mean);
    EXPECT_GT(point.distance, 0);
  }
}

}  // namespace
}  // namespace millrace
