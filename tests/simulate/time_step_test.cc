// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/time_step.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/reference/problem_builder.h"

namespace millrace {
namespace {

TEST(TimeStep, IsTheGreatestThatAllTimesAreMultiplesOf) {
  testing::ProblemBuilder problem(2);
  problem.AddOp({3, 4.5});
  problem.AddOp({std::numeric_limits<double>::infinity(), 6});  // not on the first device
  problem.AddEdge(0, 1, 0.75);
  EXPECT_EQ(TimeStep(problem.Price()), 0.75);
  problem.AddOp({1, 1});
  EXPECT_EQ(TimeStep(problem.Price()), 0.25);
  problem.AddOp({0.1, 1});
  EXPECT_EQ(TimeStep(problem.Price()), 0) << "a tenth is no multiple of a power of two";
}

TEST(RoundUpToStep, IsTheLeastMultipleThatIsNoLess) {
  EXPECT_EQ(RoundUpToStep(1.1, 0.75), 1.5);
  EXPECT_EQ(RoundUpToStep(1.5, 0.75), 1.5);
  EXPECT_EQ(RoundUpToStep(1.1, 0), 1.1);
}

TEST(BelowMakespan, LetsTheMultipleBeforePassAndNothingAboveIt) {
  for (const double makespan : {3.0, 51.0, 1e6}) {
    for (const double step : {1.0, 0.5, 1.0 / (1 << 20)}) {
      EXPECT_GT(BelowMakespan(makespan, step), makespan - step);
      EXPECT_LT(BelowMakespan(makespan, step), makespan - 0.9 * step);
    }
  }
}

TEST(BelowMakespan, IsJustBelowWhereThereIsNoStep) {
  EXPECT_LT(BelowMakespan(2, 0), 2);
  EXPECT_GT(BelowMakespan(2, 0), 2 - 1e-9);
}

TEST(BelowMakespan, LeavesHalfAStepWhereRoundingMayTakeAsMuch) {
  const double step = 1.0 / (1 << 20);
  EXPECT_EQ(BelowMakespan(1e8, step), 1e8 - step / 2);
}

}  // namespace
}  // namespace millrace
