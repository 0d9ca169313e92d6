// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/window_resampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/heuristics/forward_backward.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/gflownet/environment/random_environment.h"
#include "tests/gflownet/sampling/counting_policy.h"
#include "tests/reference/offers.h"

namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::Offers;

std::unique_ptr<Planner> Drawn() { return MakeSamplingPlanner({.name = "drawn"}, MakeUniformPolicy(), {}); }

std::unique_ptr<Planner> Resampled(const WindowResamplingOptions& options,
                                   std::shared_ptr<const Planner> source = Drawn()) {
  return MakeWindowResampling({.name = "resampled"}, std::move(source), MakeUniformPolicy(), options);
}

WindowResamplingOptions HalfDrawn() {
  WindowResamplingOptions options;
  options.drawn_share = 0.5;
  return options;
}

TEST(WindowResampling, OffersAsManyValidPlansAsAskedForTheSameAtAnyNumberOfThreads) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    Simulator simulator(problem.costed);
    Budget budget;
    budget.samples = 11;
    WindowResamplingOptions options = HalfDrawn();
    options.rounds_a_side = 1;  // so that the reversed graph has its turns
    const std::vector<Assignment> offers = Offers(*Resampled(options), problem.costed, budget, Random(1));
    ASSERT_EQ(offers.size(), 11u);
    double least_drawn = simulator.Makespan(offers.front());
    for (std::size_t i = 0; i < offers.size(); ++i) {
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, problem.PlanOf(offers[i])), std::nullopt);
      const double makespan = simulator.Makespan(offers[i]);
      if (i < 6) least_drawn = std::min(least_drawn, makespan);
      better += i >= 6 && makespan < least_drawn;
    }
    options.threads = 3;
    EXPECT_EQ(Offers(*Resampled(options), problem.costed, budget, Random(1)), offers);
  }
  EXPECT_GT(better, 40);  // of 200 that windows have made
}

TEST(WindowResampling, OffersTheOtherPlannersPlansFirst) {
  Random random(3);
  const EnvironmentProblem problem(random, {});
  const WindowResamplingOptions options = HalfDrawn();
  Budget budget;
  budget.samples = 1;
  const auto list = [] { return MakeHeuristic("list"); };
  const std::vector<Assignment> offers = Offers(*Resampled(options, list()), problem.costed, budget, Random(1));
  EXPECT_EQ(offers, Offers(*list(), problem.costed, budget, Random(1)));  // nothing is left for windows

  budget.samples = 8;
  const std::vector<Assignment> more = Offers(*Resampled(options, list()), problem.costed, budget, Random(1));
  EXPECT_EQ(more.size(), 5u);  // one plan of the list, four for windows
  EXPECT_EQ(more.front(), offers.front());
}

TEST(WindowResampling, OffersNothingSlowerThanListsThereAndBackFromEachOfItsDraws) {
  int faster = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    Simulator simulator(problem.costed);
    ThereAndBack passes(problem.costed);
    Budget budget;
    budget.samples = 8;
    const std::vector<Assignment> offers = Offers(*Resampled(HalfDrawn()), problem.costed, budget, Random(1));
    ASSERT_EQ(offers.size(), 8u);
    double listed = simulator.Makespan(offers[0]), drawn = listed, least = listed;
    for (std::size_t i = 0; i < offers.size(); ++i) {
      least = std::min(least, simulator.Makespan(offers[i]));
      if (i >= 4) continue;  // a window, or what was found before the first of them
      drawn = std::min(drawn, simulator.Makespan(offers[i]));
      passes.Improve(offers[i], {.most_rounds = 1}, [&](const Assignment& assignment, double seconds) {
        if (FitsInMemory(problem.costed, assignment)) listed = std::min(listed, seconds);
      });
    }
    EXPECT_LE(least, listed);
    faster += listed < drawn;
  }
  EXPECT_GT(faster, 10);
}

TEST(WindowResampling, DrawsOfTheReversedGraphWhereTheTimelineIsTheSameReadBackwards) {
  Random random(8);
  int different = 0;
  for (int i = 0; i < 20; ++i) {
    const EnvironmentProblem problem(random, {});
    Budget budget;
    budget.samples = 12;
    WindowResamplingOptions both, one;
    both.rounds_a_side = 1;
    one.rounds_a_side = 1000;
    different += Offers(*Resampled(both), problem.costed, budget, Random(1)) !=
                 Offers(*Resampled(one), problem.costed, budget, Random(1));
    CostedGraph contended = problem.costed;
    contended.topology.proxy = Proxy::kContended;
    EXPECT_EQ(Offers(*Resampled(both), contended, budget, Random(1)),
              Offers(*Resampled(one), contended, budget, Random(1)));
  }
  EXPECT_GT(different, 10);
}

TEST(WindowResampling, TakesAsManyStepsOfThePolicyAsWholePlansWould) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    testing::Looks looks;
    const auto policy = std::make_shared<testing::CountingPolicy>(looks);
    Budget budget;
    budget.samples = 20;
    WindowResamplingOptions options;
    Offers(
        *MakeWindowResampling({.name = "counted"}, MakeSamplingPlanner({.name = "drawn"}, policy, {}), policy, options),
        problem.costed, budget, Random(1));
    EXPECT_EQ(looks.groups, 20 * problem.costed.num_groups);
    EXPECT_EQ(looks.devices, looks.groups);
  }
}

TEST(WindowResampling, EveryStepOfAPlanIsInAsManyWindows) {
  Random random(5);
  std::vector<int> times(40, 0);
  const int windows = 40'000;
  for (int i = 0; i < windows; ++i) {
    const Window window = PlaceWindow(8, times.size(), random);
    ASSERT_GE(window.steps, 1u);
    ASSERT_LE(window.begin + window.steps, times.size());
    for (std::size_t step = window.begin; step < window.begin + window.steps; ++step) ++times[step];
  }
  const double expected = windows * 8.0 / 47;
  for (const int count : times) EXPECT_NEAR(count, expected, 6 * std::sqrt(expected));
}

TEST(WindowResampling, BeatsAsManyIndependentDraws) {
  int better = 0, worse = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    Simulator simulator(problem.costed);
    Budget budget;
    budget.samples = 64;
    const auto best_of = [&](const Planner& source) {
      double least = 0;
      for (const Assignment& offered : Offers(source, problem.costed, budget, Random(1))) {
        const double makespan = simulator.Makespan(offered);
        if (least == 0 || makespan < least) least = makespan;
      }
      return least;
    };
    const double resampled = best_of(*Resampled({}));
    const double drawn = best_of(*Drawn());
    better += resampled < drawn;
    worse += resampled > drawn;
  }
  EXPECT_GT(better, 2 * worse);
}

TEST(WindowResampling, ANothingToPlanStaysOne) {
  const CostedGraph nothing;
  Budget budget;
  budget.samples = 10;
  EXPECT_EQ(Offers(*Resampled({}), nothing, budget, Random(1)).size(), 1u);
}

}  // namespace
}  // namespace millrace
