// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/local_search_planner.h"
#include "millrace/heuristics/heuristics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/planning/best_of.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/offers.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

// On links where the mean transfer takes `ccr` times the seconds of the mean op.
CostedGraph Layered(std::uint64_t seed, double ccr = 1) {
  RandomGraphOptions options;
  options.ops = 40;
  options.ccr = ccr;
  options.seed = seed;
  const ComputationGraph graph = MakeRandomGraph("layered", options);
  Machine machine;
  for (int d = 0; d < 4; ++d) machine.devices.push_back({"d" + std::to_string(d), "cpu", {d}, 1e12, 1e11, {}, 0});
  machine.default_link = DefaultLink{0, 1e9};
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

TEST(LocalSearchPlanner, OffersNothingWorseThanItsStartsAndTheSameForTheSameSeed) {
  LocalSearchPlannerOptions options;
  options.samples = 16;
  options.starts = 3;
  const auto source = MakeLocalSearchPlanner({.name = "search"}, MakeHeuristic("randomised-list"), options);
  int better = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const CostedGraph costed = Layered(seed);
    Budget budget;
    budget.iterations = 3000;
    Random first(seed), second(seed);
    const BestOf one = RunPlanner(*source, costed, budget, first, 100);
    const BestOf again = RunPlanner(*source, costed, budget, second, 100);
    ASSERT_EQ(one.kept.size(), again.kept.size());
    EXPECT_EQ(one.kept.front().assignment, again.kept.front().assignment);
    EXPECT_LE(one.offered, 16 + 3 + 1);
    Random plain(seed);
    Random stream = plain.Fork(0);
    Budget drawing;
    drawing.samples = 16;
    const double drawn =
        RunPlanner(*MakeHeuristic("randomised-list"), costed, drawing, stream, 1).kept.front().makespan;
    EXPECT_LE(one.kept.front().makespan, drawn);
    better += one.kept.front().makespan < drawn;
  }
  EXPECT_GE(better, 8);
}

// Makespans of the plans it offers after the samples, of which there are `samples`, all different.
std::vector<double> LocalSearchOffers(const CostedGraph& costed, const LocalSearchPlannerOptions& options,
                                      std::int64_t changes, std::size_t samples) {
  const auto source = MakeLocalSearchPlanner({.name = "search"}, MakeHeuristic("randomised-list"), options);
  Budget budget;
  budget.iterations = changes;
  Simulator simulator(costed);
  std::vector<double> makespans;
  for (const Assignment& offer : testing::Offers(*source, costed, budget, Random(2)))
    makespans.push_back(simulator.Makespan(offer));
  EXPECT_GT(makespans.size(), samples);
  makespans.erase(makespans.begin(), makespans.begin() + static_cast<std::ptrdiff_t>(samples));
  return makespans;
}

constexpr std::size_t kStarts = 3;
constexpr std::int64_t kWorth = 100;  // changes a group and round

LocalSearchPlannerOptions ShortRounds() {
  LocalSearchPlannerOptions options;
  options.samples = 16;
  options.starts = kStarts;
  options.round_changes = kWorth;
  return options;
}

// Enough for so many rounds of kWorth and half of another, and a quarter of that for the starts.
std::int64_t ChangesFor(int rounds, const CostedGraph& costed) {
  return (kWorth * rounds + kWorth / 2) * costed.num_groups * 5 / 4;
}

TEST(LocalSearchPlanner, GoesOnFromTheBestPlanInAsManyRoundsAsHaveEnoughChanges) {
  const LocalSearchPlannerOptions options = ShortRounds();
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(10); ++seed) {
    const CostedGraph costed = Layered(seed, 0.2);
    for (const int rounds : {1, 3, 8, 20}) {
      const std::vector<double> polished = LocalSearchOffers(costed, options, ChangesFor(rounds, costed), 16);
      ASSERT_EQ(polished.size(), kStarts + static_cast<std::size_t>(std::min(rounds, options.most_rounds)));
      double best = *std::min_element(polished.begin(), polished.begin() + kStarts);
      for (std::size_t i = kStarts; i < polished.size(); ++i) {
        EXPECT_LE(polished[i], best);
        best = polished[i];
      }
    }
  }
}

TEST(LocalSearchPlanner, GivesAllOfTheBudgetToTheStartsWhereNoRoundsAreWanted) {
  LocalSearchPlannerOptions options = ShortRounds();
  options.most_rounds = 0;
  EXPECT_EQ(LocalSearchOffers(Layered(1), options, 1000, 16).size(), kStarts);
}

TEST(LocalSearchPlanner, MakesFewerAndLongerRoundsWhereTransfersAreDear) {
  const LocalSearchPlannerOptions options = ShortRounds();
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(5); ++seed) {
    for (const double ccr : {10.0, 100.0}) {
      const CostedGraph costed = Layered(seed, ccr);
      for (const int rounds : {1, 2, 3}) {
        const int cool = rounds * static_cast<int>(options.most_heat);
        EXPECT_EQ(LocalSearchOffers(costed, options, ChangesFor(cool, costed), 16).size(),
                  kStarts + static_cast<std::size_t>(rounds));
      }
    }
  }
}

TEST(LocalSearchPlanner, TakesGraphsWithoutEdges) {
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d" + std::to_string(d), "cpu", {d}, 1e12, 1e11, {}, 0});
  machine.default_link = DefaultLink{0, 1e9};
  RandomGraphOptions lone;
  lone.ops = 1;
  const ComputationGraph graph = MakeRandomGraph("layered", lone);
  const CostedGraph no_edges = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  EXPECT_FALSE(LocalSearchOffers(no_edges, ShortRounds(), 1000, 1).empty());
}

}  // namespace
}  // namespace millrace
