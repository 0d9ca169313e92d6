// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placement_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <numeric>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placements.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

TEST(PlacedInOrders, GivesValidPlansOfThePlacementWithTheirProxyTimes) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto model = MakeAnalyticCostModel(graph, machine);
    CostedGraph costed;
    std::vector<int> placement;
    try {
      costed = MakeCostedGraph(*model, testing::RandomGroups(random, graph));
      placement = PlaceByLayers(costed);
    } catch (const std::exception&) {
      continue;  // what must share a device can run nowhere
    }
    const std::vector<OrderedPlacement> placed = PlacedInOrders(costed, placement);
    EXPECT_EQ(placed.size(), 7u);
    double least = placed.front().planned.makespan;
    for (const OrderedPlacement& each : placed) {
      EXPECT_EQ(each.planned.assignment.placement, placement) << each.order;
      const Plan plan{costed.groups, placement, each.planned.assignment.sequence};
      ASSERT_EQ(WhyNotValid(graph, machine, plan), std::nullopt) << each.order;
      const double slow = testing::SlowSimulate(graph, machine, plan).makespan;
      EXPECT_NEAR(each.planned.makespan, slow, 1e-9 * (1 + slow)) << each.order;
      least = std::min(least, each.planned.makespan);
    }
    EXPECT_EQ(BestOfOrders(costed, placement).makespan, least);
  }
}

TEST(OrderThereAndBack, KeepsThePlacementIsNeverSlowerAndOftenFaster) {
  Random random(4);
  int faster = 0;
  for (int round = 0; round < 80; ++round) {
    const testing::CostedProblem problem(random, {.most_ops = 60});
    CostedGraph costed = problem.costed;
    costed.topology.proxy = round % 2 == 0 ? Proxy::kContended : Proxy::kLinear;
    const std::vector<int> placement = PlaceByPartition(costed);
    const PlacedSchedule readiness = SchedulePlaced(costed, placement, {});
    const double before = Simulator(costed).Makespan(readiness.assignment);
    const PlannedAssignment ordered = OrderThereAndBack(costed, {readiness.assignment, before});
    EXPECT_EQ(ordered.assignment.placement, placement);
    EXPECT_LE(ordered.makespan, before);
    EXPECT_EQ(ordered.makespan, Simulator(costed).Makespan(ordered.assignment));
    faster += ordered.makespan < before * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(faster, 15);
}

// Two chains of three from one source, listed one after the other: 0 -> 1 -> 2 -> 3, 0 -> 4 -> 5 -> 6.
TEST(PlacedInOrders, FollowsTheFileAndTheDepthOfTheGroups) {
  GraphData data;
  data.ops.resize(7);
  for (std::size_t op = 0; op < data.ops.size(); ++op) {
    data.ops[op].name = "op" + std::to_string(op);
    data.ops[op].seconds.everywhere = 1;
  }
  const auto tensor = [&data](OpId from, std::vector<OpId> to) {
    data.tensors.push_back({"t" + std::to_string(data.tensors.size()), from, std::move(to), 1, false});
  };
  tensor(0, {1, 4});
  tensor(1, {2});
  tensor(2, {3});
  tensor(4, {5});
  tensor(5, {6});
  Machine machine;
  machine.name = "one";
  machine.devices.push_back({"d", "d", {0}, 1e12, 1e11, std::nullopt, 0});
  const ComputationGraph graph(std::move(data));
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const auto sequence = [&](std::string_view order) {
    for (const OrderedPlacement& each : PlacedInOrders(costed, std::vector<int>(7, 0))) {
      if (each.order == order) return each.planned.assignment.sequence;
    }
    return std::vector<int>{};
  };
  EXPECT_THAT(sequence("file"), ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(sequence("breadth-first"), ::testing::ElementsAre(0, 1, 4, 2, 5, 3, 6));
  const std::vector<int> deep = sequence("depth-first");
  EXPECT_EQ(std::abs((std::find(deep.begin(), deep.end(), 3) - std::find(deep.begin(), deep.end(), 1))), 2);
}

}  // namespace
}  // namespace millrace
