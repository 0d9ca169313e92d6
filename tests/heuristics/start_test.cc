// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/start.h"

#include <gtest/gtest.h>

#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/offers.h"

namespace millrace {
namespace {

TEST(Start, IsNoSlowerThanAnyHeuristicAndAnyPlacementByHandInAnyOrder) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const testing::CostedProblem problem(random);
    Simulator simulator(problem.costed);
    const std::vector<Assignment> start = testing::Offers(*MakeStart(), problem.costed, {}, Random(1));
    ASSERT_EQ(start.size(), 1u);
    const double seconds = simulator.Makespan(start.front());
    for (const Assignment& plan : testing::Offers(*MakeAllHeuristics(), problem.costed, {}, Random(1)))
      EXPECT_LE(seconds, simulator.Makespan(plan)) << round;
    for (const std::vector<int>& placement : {PlaceByLayers(problem.costed), PlaceByPartition(problem.costed)}) {
      for (const OrderedPlacement& placed : PlacedInOrders(problem.costed, placement))
        EXPECT_LE(seconds, placed.planned.makespan) << round << " " << placed.order;
    }
  }
}

TEST(Start, IsThatOfTheProblemWhereItHasOne) {
  Random random(2);
  const testing::CostedProblem problem(random);
  const Assignment known = problem.Start(random);
  std::vector<Assignment> offers;
  MakeStart()->Propose(PlanningProblem(problem.costed).WithStart(known), {}, random,
                       [&offers](ProposedPlan plan) { offers.push_back(std::move(plan.assignment)); });
  EXPECT_EQ(offers, std::vector<Assignment>{known});
}

}  // namespace
}  // namespace millrace
