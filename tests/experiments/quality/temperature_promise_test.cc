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

// Fixed graphs and seeds: a promise that the sampler stopped keeping shows here.
TEST(Promise, IsKeptByTheShippedSamplerOnNearlyAllGraphs) {
  PromiseOptions options;
  options.temperatures = {0.01, 0.02, 0.04, 0.06};
  options.families = {"gaussian_elimination", "layered"};
  options.ops = {40, 120};
  options.devices = {"4"};
  options.samples = 120;
  const PromiseResult result = TestPromise(options, MakePlannerRegistry(), [](int, int) {});
  ASSERT_EQ(result.points.size(), 12u);
  EXPECT_GE(PromiseTables(result)[0].rows[0][4].numbers[0], 80);
}

}  // namespace
}  // namespace millrace
