// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/convergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

TEST(LearningLog, IsReadUpdateByUpdateWithoutWhatIsNoUpdate) {
  const std::vector<LearningPoint> points = ParseLearningLog(
      "{\"update\":1,\"evaluations\":8,\"seconds\":0.5,\"best_seconds\":null}\n"
      "{\"update\":2,\"evaluations\":16,\"seconds\":1,\"best_seconds\":3.5}\n"
      "{\"validation\":\"all\",\"update\":2,\"seconds\":1.5,\"best\":1}\n\n"
      "{\"updates\":3,\"evaluations\":24,\"seconds\":2,\"best_seconds\":3}",
      "log");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].evaluations, 16);
  EXPECT_EQ(points[0].best_seconds, 3.5);
  EXPECT_EQ(points[1].seconds, 2);
}

TEST(LearningLog, IsRefusedByLine) {
  try {
    ParseLearningLog("{\"evaluations\":1,\"seconds\":1,\"best_seconds\":1}\n{\"evaluations\":-1,\"best_seconds\":1}\n",
                     "bad.jsonl");
    FAIL() << "it was read";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("bad.jsonl:2"));
  }
}

TEST(Convergence, CountsFromTheFirstPlanThatIsNear) {
  // Twice the evaluations and three times the time to get there, on two workloads; on the second no plan is as good.
  const std::vector<LearningPoint> quick = {{10, 1, 5}, {20, 2, 1.01}, {30, 3, 1}};
  const std::vector<LearningPoint> slow = {{20, 3, 3}, {40, 6, 2.02}, {60, 9, 2}};
  const std::vector<LearningPoint> poor = {{20, 2, 9}, {30, 4, 8}};
  EXPECT_EQ(FirstWithin(quick, 1, 0.02)->evaluations, 20);
  EXPECT_FALSE(FirstWithin(poor, 2, 0.02));
  const std::vector<Table> tables = ConvergenceTables(
      {"quick", "hdp"}, {{"one", {{quick}, {slow}}}, {"two", {{poor}, {slow}}}, {"three", {{{}}, {slow}}}});
  ASSERT_EQ(tables.size(), 2U);
  const std::vector<Cell>& one = tables[0].rows[0];
  EXPECT_EQ(one[1].numbers, std::vector<double>{1});
  EXPECT_EQ(one[2].numbers, std::vector<double>{20});
  EXPECT_EQ(one[6].numbers, std::vector<double>{6});
  EXPECT_EQ(tables[0].rows[2][1].text, "OOM");
  const std::vector<Cell>& ratios = tables[1].rows[0];
  EXPECT_NEAR(ratios[1].numbers[0], std::sqrt(40.0 / 20 * 40 / 30), 1e-9);
  EXPECT_NEAR(ratios[3].numbers[0], 2, 1e-9);
  EXPECT_NEAR(ratios[4].numbers[0], 3, 1e-9);
  EXPECT_EQ(ratios[5].text, "1 of 2");
}

}  // namespace
}  // namespace millrace
