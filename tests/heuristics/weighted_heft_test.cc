// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/weighted_heft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/offers.h"

namespace millrace {
namespace {

TEST(WeightedHeft, IsHeftWithTheUsualWeights) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const testing::CostedProblem problem(random);
    const Assignment heft = ScheduleHeft(problem.costed, PartialSchedule::Gaps::kFill).assignment;
    EXPECT_EQ(ScheduleWeightedHeft(problem.costed, {}).assignment, heft) << round;
    EXPECT_EQ(testing::Offers(*MakeWeightedHeft(), problem.costed, {}, Random(1)).front(),
              testing::Offers(*MakeHeuristic("heft"), problem.costed, {}, Random(1)).front());
  }
}

TEST(WeightedHeft, IsNeverSlowerThanHeftAndOftenFaster) {
  Random random(2);
  int faster = 0;
  for (int round = 0; round < 60; ++round) {
    const testing::CostedProblem problem(random, {.most_ops = 60});
    Simulator simulator(problem.costed);
    double least = std::numeric_limits<double>::infinity();
    for (const Assignment& plan : testing::Offers(*MakeWeightedHeft(), problem.costed, {}, Random(1)))
      least = std::min(least, simulator.Makespan(plan));
    const double heft = simulator.Makespan(testing::Offers(*MakeHeuristic("heft"), problem.costed, {}, Random(1))[0]);
    EXPECT_LE(least, heft * (1 + 1e-12)) << round;
    faster += least < heft * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(faster, 10);
}

TEST(WeightedHeft, OffersOnePlanWhereThereIsNoTime) {
  Random random(3);
  const testing::CostedProblem problem(random);
  Budget budget;
  budget.seconds = 0;
  EXPECT_EQ(testing::Offers(*MakeWeightedHeft(), problem.costed, budget, Random(1)).size(), 1u);
  EXPECT_EQ(testing::Offers(*MakeWeightedHeft(), problem.costed, {}, Random(1)).size(), 14u);
}

}  // namespace
}  // namespace millrace
