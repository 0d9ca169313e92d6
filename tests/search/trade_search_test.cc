// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/trade_search.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

#include "millrace/plan/verify.h"
#include "millrace/simulate/memory_check.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

using testing::CostedProblem;

TradePlan Point(double makespan, double value) { return {{}, makespan, value}; }

TEST(TradeFront, KeepsWhatNothingBeatsInBoth) {
  TradeFront front;
  EXPECT_TRUE(front.Add(Point(2, 5)));
  EXPECT_FALSE(front.Add(Point(2, 5)));
  EXPECT_FALSE(front.Add(Point(3, 5)));
  EXPECT_TRUE(front.Add(Point(3, 4)));
  EXPECT_TRUE(front.Add(Point(1, 9)));
  EXPECT_TRUE(front.Add(Point(2, 4)));
  ASSERT_EQ(front.plans().size(), 2U);
  EXPECT_EQ(front.plans()[0].makespan, 1);
  EXPECT_EQ(front.plans()[1].value, 4);
  EXPECT_EQ(front.Within(1.5)->value, 9);
  EXPECT_EQ(front.Within(10)->value, 4);
  EXPECT_EQ(front.Within(0.5), nullptr);
}

TradePlan Rated(const CostedGraph& costed, const PlanValue& value, Assignment plan) {
  const Timeline timeline = MakeTimeline(costed, plan);
  const double worth = value(plan, timeline);
  return {std::move(plan), timeline.makespan, worth};
}

TEST(TradeSearch, FindsValidPlansWithinTheLimitThatAreWorthWhatItSaysAndNeverLosesItsStart) {
  Random random(9);
  int better = 0;
  for (int round = 0; round < 60; ++round) {
    const CostedProblem problem(random, {.memory = round % 4 == 3},
                                round % 2 == 0 ? Proxy::kLinear : Proxy::kContended);
    const CostedGraph& costed = problem.costed;
    const auto aim = round % 3 == 0 ? Objective::Aim::kThroughput : Objective::Aim::kMemory;
    const PlanValue value = MakePlanValue(aim, costed);
    const Assignment start = problem.Start(random);
    if (!FitsInMemory(costed, start)) continue;
    TradeFront front;
    const TradePlan begun = Rated(costed, value, start);
    front.Add(begun);
    TradeSearchOptions options;
    options.limits = {begun.makespan, 1.2 * begun.makespan, std::numeric_limits<double>::infinity()};
    options.iterations = 600;
    Random stream(static_cast<std::uint64_t>(round));
    SearchTrade(costed, value, options, front, stream);
    for (const TradePlan& plan : front.plans()) {
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine,
                            {costed.groups, plan.assignment.placement, plan.assignment.sequence}),
                std::nullopt);
      EXPECT_TRUE(FitsInMemory(costed, plan.assignment));
      const TradePlan again = Rated(costed, value, plan.assignment);
      EXPECT_EQ(again.makespan, plan.makespan);
      EXPECT_EQ(again.value, plan.value);
    }
    ASSERT_NE(front.Within(begun.makespan), nullptr);
    EXPECT_LE(front.Within(begun.makespan)->value, begun.value);
    better += front.Within(begun.makespan)->value < begun.value;
    TradeFront repeated;
    repeated.Add(begun);
    Random again(static_cast<std::uint64_t>(round));
    SearchTrade(costed, value, options, repeated, again);
    ASSERT_EQ(repeated.plans().size(), front.plans().size());
    EXPECT_EQ(repeated.plans().back().assignment, front.plans().back().assignment);
  }
  EXPECT_GT(better, 20);
}

}  // namespace
}  // namespace millrace
