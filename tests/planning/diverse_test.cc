// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/diverse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The plans that are taken of plans on a line, best first, that are as far apart as their places.
std::vector<double> Taken(const std::vector<double>& places, const DiverseOptions& options) {
  std::vector<double> taken;
  for (const std::size_t plan : DiverseTopK(
           places.size(), options, [&places](std::size_t a, std::size_t b) { return std::abs(places[a] - places[b]); }))
    taken.push_back(places[plan]);
  return taken;
}

TEST(DiverseTopK, TakesPlansThatAreFarFromAllTakenOnesFirst) {
  const std::vector<double> places = {0.5, 0.52, 0.1, 0.9, 0.12, 0.7};
  EXPECT_THAT(Taken(places, {.keep = 4, .least_distance = 0.1}), ElementsAre(0.5, 0.1, 0.9, 0.7));
  EXPECT_THAT(Taken(places, {.keep = 2, .least_distance = 0.1}), ElementsAre(0.5, 0.1));
}

TEST(DiverseTopK, TakesAPlanThatIsJustFarEnough) {
  EXPECT_THAT(Taken({0, 0.25, 0.5}, {.keep = 2, .least_distance = 0.5}), ElementsAre(0, 0.5));
}

TEST(DiverseTopK, FillsPlacesThatAreLeftOverWithTheBestOfTheRest) {
  const std::vector<double> places = {0.5, 0.52, 0.1, 0.12, 0.54};
  EXPECT_THAT(Taken(places, {.keep = 4, .least_distance = 0.1}), ElementsAre(0.5, 0.1, 0.52, 0.12));
}

TEST(DiverseTopK, TakesRepeatedPlansOnlyWhereTheyAreAllowedAndLast) {
  const std::vector<double> places = {0.5, 0.5, 0.52, 0.52, 0.9};
  EXPECT_THAT(Taken(places, {.keep = 9, .least_distance = 0.1}), ElementsAre(0.5, 0.9, 0.52));
  EXPECT_THAT(Taken(places, {.keep = 9, .least_distance = 0.1, .repeats = true}),
              ElementsAre(0.5, 0.9, 0.5, 0.52, 0.52));
}

TEST(DiverseTopK, TakesNoneWhereNoneAreWantedOrThereAreNone) {
  EXPECT_THAT(Taken({0, 1}, {.keep = 0}), IsEmpty());
  EXPECT_THAT(Taken({}, {}), IsEmpty());
}

CostedGraph Layered() {
  RandomGraphOptions options;
  options.ops = 40;
  options.ccr = 1;
  options.seed = 1;
  const ComputationGraph graph = MakeRandomGraph("layered", options);
  const Machine machine = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

std::vector<RatedAssignment> Draws(const CostedGraph& costed, std::int64_t count) {
  Random random(2);
  Budget budget;
  budget.samples = count;
  return RunPlanner(*MakeHeuristic("randomised-list"), costed, budget, random, static_cast<std::size_t>(count)).kept;
}

TEST(SelectDiverse, TakesPlansThatDifferBeforeBetterOnesThatAreAlike) {
  const CostedGraph costed = Layered();
  const std::vector<RatedAssignment> plans = Draws(costed, 60);
  ASSERT_GT(plans.size(), 20u);
  std::vector<RatedAssignment> doubled;
  for (const RatedAssignment& plan : plans) {
    doubled.push_back(plan);
    doubled.push_back(plan);
  }
  const auto selected = SelectDiverse(costed, doubled, {.keep = 10, .least_distance = 1e-6, .repeats = true});
  ASSERT_EQ(selected.size(), 10u);
  for (std::size_t i = 1; i < selected.size(); ++i) {
    EXPECT_NE(selected[i].assignment, selected[i - 1].assignment);
    EXPECT_LE(selected[i - 1].makespan, selected[i].makespan);
  }
  EXPECT_EQ(selected.front().assignment, plans.front().assignment);
}

TEST(SelectDiverse, FillsPlacesThatAreLeftOver) {
  const CostedGraph costed = Layered();
  const std::vector<RatedAssignment> plans = Draws(costed, 2);
  EXPECT_EQ(SelectDiverse(costed, {plans[0], plans[0]}, {.keep = 5, .least_distance = 0.5, .repeats = true}).size(),
            2u);
}

}  // namespace
}  // namespace millrace
