// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/ordered_placements.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/offers.h"

namespace millrace {
namespace {

TEST(OrderedPlacements, OffersEveryPlacementByHandAndThatOfTheStartInEveryOrder) {
  Random random(1);
  for (int round = 0; round < 30; ++round) {
    const testing::CostedProblem problem(random);
    const Assignment start = problem.Start(random);
    std::vector<Assignment> offers;
    MakeOrderedPlacements()->Propose(PlanningProblem(problem.costed).WithStart(start), {}, random,
                                     [&offers](ProposedPlan plan) { offers.push_back(std::move(plan.assignment)); });
    EXPECT_EQ(offers.size(), 35u);
    EXPECT_EQ(testing::Offers(*MakeOrderedPlacements(), problem.costed, {}, random).size(), 28u);
    for (const std::vector<int>& placement : {PlaceByLayers(problem.costed), PlaceByPartition(problem.costed),
                                              PlaceUntilFull(problem.costed), start.placement}) {
      for (const OrderedPlacement& placed : PlacedInOrders(problem.costed, placement))
        EXPECT_NE(std::find(offers.begin(), offers.end(), placed.planned.assignment), offers.end()) << placed.order;
    }
  }
}

}  // namespace
}  // namespace millrace
