// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/time_step.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

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
