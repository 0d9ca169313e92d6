// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/planner.h"
#include "millrace/heuristics/heuristics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/heuristic_names.h"
#include "tests/reference/offers.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

using testing::HeuristicNames;
using testing::Offers;

class EveryHeuristic : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Planner> source_ = MakeHeuristic(GetParam());
};

TEST_P(EveryHeuristic, AnswersToItsName) {
  ASSERT_NE(source_, nullptr);
  EXPECT_EQ(source_->name(), GetParam());
}

// Valid, timed as the slow simulator says, above the bound: with single ops, random groups, and greedy fusion.
TEST_P(EveryHeuristic, OffersValidAssignmentsThatRespectTheLowerBound) {
  Random random(1);
  for (int i = 0; i < 250; ++i) {
    testing::RandomProblemOptions options;
    options.tidy = i % 3 == 0;
    options.memory = i % 4 == 0;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    FusionGroups groups = SingleOpGroups(graph);
    if (i % 3 == 1) groups = GreedyFusion(graph);
    CostedGraph costed;
    try {
      costed = MakeCostedGraph(*model, groups);
    } catch (const std::exception&) {
      continue;  // what must share a device can run nowhere
    }
    Budget budget;
    budget.samples = 3;
    for (const Assignment& offer : Offers(*source_, costed, budget, Random(7))) {
      const Plan plan{groups, offer.placement, offer.sequence};
      ASSERT_EQ(WhyNotValid(graph, machine, plan), std::nullopt) << "problem " << i;
      const double makespan = MakeTimeline(costed, offer).makespan;
      EXPECT_NEAR(makespan, testing::SlowSimulate(graph, machine, plan).makespan, 1e-9 * (1 + makespan));
      EXPECT_GE(makespan, LowerBound(costed) * (1 - 1e-9));
    }
  }
}

TEST_P(EveryHeuristic, OffersTheSameForTheSameSeed) {
  Random random(2);
  for (int i = 0; i < 20; ++i) {
    const ComputationGraph graph = testing::RandomGraph(random, {.group_seconds = false});
    const Machine machine = testing::RandomMachine(random);
    const CostedGraph costed = MakeCostedGraph(*MakeUnitCostModel(graph, machine), SingleOpGroups(graph));
    Budget budget;
    budget.samples = 4;
    const std::vector<Assignment> offers = Offers(*source_, costed, budget, Random(11));
    EXPECT_FALSE(offers.empty());
    EXPECT_EQ(offers, Offers(*source_, costed, budget, Random(11)));
    // A sample depends on its number alone, not on how many are asked for.
    budget.samples = 2;
    const std::vector<Assignment> fewer = Offers(*source_, costed, budget, Random(11));
    ASSERT_LE(fewer.size(), offers.size());
    EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), offers.begin()));
  }
}

TEST_P(EveryHeuristic, OffersTheEmptyAssignmentForAnEmptyGraph) {
  const ComputationGraph graph{GraphData{}};
  Random random(3);
  const Machine machine = testing::RandomMachine(random);
  const CostedGraph costed = MakeCostedGraph(*MakeUnitCostModel(graph, machine), {});
  EXPECT_EQ(Offers(*source_, costed, {}, Random(0)), std::vector<Assignment>{Assignment{}});
}

TEST_P(EveryHeuristic, StopsSoonAfterItsTimeLimit) {
  Random random(4);
  const ComputationGraph graph = testing::RandomGraph(random, {.group_seconds = false});
  const Machine machine = testing::RandomMachine(random);
  const CostedGraph costed = MakeCostedGraph(*MakeUnitCostModel(graph, machine), SingleOpGroups(graph));
  Budget budget;
  budget.samples = std::int64_t{1} << 60;
  budget.seconds = 0.02;
  EXPECT_FALSE(Offers(*source_, costed, budget, Random(0)).empty());
}

INSTANTIATE_TEST_SUITE_P(Heuristics, EveryHeuristic, ::testing::ValuesIn(HeuristicNames()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(AddHeuristics, AddsThemInTheOrderOfReports) {
  EXPECT_THAT(HeuristicNames(),
              ::testing::ElementsAre("sequential", "random", "list", "heft", "heft-append", "weighted-heft",
                                     "forward-backward", "cpop", "peft", "etf", "dls", "minmin", "maxmin",
                                     "randomised-list", "metis", "expert", "layer-cuts", "placements"));
}

TEST(MakeHeuristic, KnowsNoOtherNames) {
  EXPECT_THROW(MakeHeuristic("hefty"), InvalidInput);
  EXPECT_THROW(MakeHeuristic(""), InvalidInput);
}

TEST(RandomisedList, BeginsWithHeftAndThenVaries) {
  Random random(5);
  const ComputationGraph graph = testing::RandomGraph(random, {.most_ops = 60, .kinds = false, .group_seconds = false});
  const Machine machine = testing::RandomMachine(random, {.gangs = false});
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  Budget budget;
  budget.samples = 10;
  const std::vector<Assignment> offers = Offers(*MakeHeuristic("randomised-list"), costed, budget, Random(1));
  ASSERT_EQ(offers.size(), 10u);
  EXPECT_EQ(offers.front(), Offers(*MakeHeuristic("heft"), costed, budget, Random(1)).front());
  EXPECT_FALSE(std::all_of(offers.begin(), offers.end(), [&](const Assignment& a) { return a == offers.front(); }));
}

}  // namespace
}  // namespace millrace
