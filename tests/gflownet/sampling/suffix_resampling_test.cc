// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/suffix_resampling.h"
#include "millrace/heuristics/heuristics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/gflownet/environment/random_environment.h"
#include "tests/reference/offers.h"

namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::Offers;

std::unique_ptr<Planner> Drawn() { return MakeSamplingPlanner({.name = "drawn"}, MakeUniformPolicy(), {}); }

std::unique_ptr<Planner> Resampled(const SuffixResamplingOptions& options,
                                   std::shared_ptr<const Planner> source = Drawn()) {
  return MakeSuffixResampling({.name = "resampled"}, std::move(source), MakeUniformPolicy(), options);
}

TEST(SuffixResampling, OffersAsManyValidPlansAsAskedForTheSameAtAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    Budget budget;
    budget.samples = 11;
    SuffixResamplingOptions options;
    const std::vector<Assignment> offers = Offers(*Resampled(options), problem.costed, budget, Random(1));
    ASSERT_EQ(offers.size(), 11u);
    for (const Assignment& offered : offers)
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, problem.PlanOf(offered)), std::nullopt);
    options.threads = 3;
    EXPECT_EQ(Offers(*Resampled(options), problem.costed, budget, Random(1)), offers);
  }
}

TEST(SuffixResampling, OffersTheOtherSourcesPlansFirst) {
  Random random(3);
  const EnvironmentProblem problem(random, {});
  SuffixResamplingOptions options;
  options.share = 0.25;
  Budget budget;
  budget.samples = 3;
  const auto list = [] { return MakeHeuristic("list"); };
  const std::vector<Assignment> offers = Offers(*Resampled(options, list()), problem.costed, budget, Random(1));
  EXPECT_EQ(offers, Offers(*list(), problem.costed, budget, Random(1)));  // a quarter of three is none

  budget.samples = 8;
  const std::vector<Assignment> more = Offers(*Resampled(options, list()), problem.costed, budget, Random(1));
  ASSERT_EQ(more.size(), 3u);
  EXPECT_EQ(more.front(), offers.front());
}

TEST(SuffixResampling, KeepsABeginningOfTheBestPlanSoFar) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    Simulator simulator(problem.costed);
    Budget budget;
    budget.samples = 40;
    SuffixResamplingOptions options;
    options.round = 1;
    const std::vector<Assignment> offers = Offers(*Resampled(options), problem.costed, budget, Random(1));
    Assignment best;
    double least = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < offers.size(); ++i) {
      if (i >= 20) {
        const auto apart =
            std::mismatch(offers[i].sequence.begin(), offers[i].sequence.end(), best.sequence.begin()).first;
        kept += static_cast<std::size_t>(apart - offers[i].sequence.begin());
      }
      const double makespan = simulator.Makespan(offers[i]);
      if (i > 0 && makespan >= least) continue;
      best = offers[i];
      least = makespan;
    }
    // Cuts are drawn evenly: of twenty plans, about ten wholes are kept, and by chance a step or two more of each.
    EXPECT_GT(kept, 5 * offers.front().sequence.size());
  }
}

TEST(SuffixResampling, BeatsAsManyIndependentDraws) {
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

TEST(SuffixResampling, ANothingToPlanStaysOne) {
  const CostedGraph nothing;
  Budget budget;
  budget.samples = 10;
  EXPECT_EQ(Offers(*Resampled({}), nothing, budget, Random(1)).size(), 1u);
}

}  // namespace
}  // namespace millrace
