// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/forward_backward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/offers.h"

namespace millrace {
namespace {

TEST(ForwardBackward, BeginsWithHeftAndOffersEverFasterPlansOfTheTimesItSays) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const testing::CostedProblem problem(random);
    double least = std::numeric_limits<double>::infinity();
    bool first = true;
    ScheduleForwardBackward(problem.costed, {}, [&](const Assignment& assignment, double seconds) {
      if (first) {
        EXPECT_EQ(assignment, ScheduleHeft(problem.costed, PartialSchedule::Gaps::kFill).assignment);
      }
      first = false;
      EXPECT_LT(seconds, least);
      least = seconds;
      EXPECT_NEAR(MakeTimeline(problem.costed, assignment).makespan, seconds, 1e-12 * seconds);
    });
    EXPECT_FALSE(first);
  }
}

// On layered graphs whose transfers are dear there is much to gain.
TEST(ForwardBackward, IsWellAheadOfHeftWhereTransfersAreDear) {
  const Machine machine = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  double logarithms = 0;
  constexpr int kGraphs = 12;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    const ComputationGraph graph = MakeRandomGraph("layered", {.ops = 100, .ccr = 5, .seed = seed});
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    double heft = 0, last = 0;
    ScheduleForwardBackward(costed, {}, [&](const Assignment&, double seconds) {
      if (heft == 0) heft = seconds;
      last = seconds;
    });
    logarithms += std::log(heft / last) / kGraphs;
  }
  EXPECT_GT(std::exp(logarithms), 1.05);
}

// One object for several plans, each of which it improves as a fresh one would.
TEST(ForwardBackward, ImprovesAnyPlanAndKeepsNothingOfTheLast) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    const testing::CostedProblem problem(random);
    ThereAndBack passes(problem.costed);
    for (int i = 0; i < 3; ++i) {
      const Assignment from = problem.Start(random);
      double least = MakeTimeline(problem.costed, from).makespan;
      std::vector<Assignment> offers, fresh;
      passes.Improve(from, {}, [&](const Assignment& assignment, double seconds) {
        EXPECT_LT(seconds, least);
        least = seconds;
        EXPECT_NEAR(MakeTimeline(problem.costed, assignment).makespan, seconds, 1e-12 * seconds);
        offers.push_back(assignment);
      });
      ThereAndBack(problem.costed).Improve(from, {}, [&](const Assignment& assignment, double) {
        fresh.push_back(assignment);
      });
      EXPECT_EQ(offers, fresh);
    }
  }
}

TEST(ForwardBackward, MakesAsManyPassesAsItMay) {
  Random random(2);
  const testing::CostedProblem problem(random, {.most_ops = 40});
  int asked = 0;
  ForwardBackwardOptions options;
  options.most_rounds = 5;
  options.most_in_vain = 100;
  options.stop = [&asked] { return ++asked == 4; };
  ScheduleForwardBackward(problem.costed, options, [](const Assignment&, double) {});
  EXPECT_EQ(asked, 4);
  asked = 100;
  ScheduleForwardBackward(problem.costed, options, [](const Assignment&, double) {});
  EXPECT_EQ(asked, 100 + 1 + 2 * 5);
}

TEST(ForwardBackward, OffersOnePlanForEachGangChoiceWhereThereIsNoTime) {
  Random random(3);
  const testing::CostedProblem problem(random);
  Budget budget;
  budget.seconds = 0;
  const std::vector<Assignment> offers = testing::Offers(*MakeForwardBackward(), problem.costed, budget, Random(1));
  EXPECT_GE(offers.size(), 1u);
  EXPECT_LE(offers.size(), 3u);
  EXPECT_EQ(offers.front(), ScheduleHeft(problem.costed, PartialSchedule::Gaps::kFill).assignment);
}

}  // namespace
}  // namespace millrace
