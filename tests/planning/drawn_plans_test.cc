// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/drawn_plans.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/offers.h"
#include "tests/reference/random_problem.h"

namespace millrace::testing {
namespace {

CostedGraph Problem(std::uint64_t seed) {
  Random random(seed);
  const ComputationGraph graph = RandomGraph(random);
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, RandomMachine(random)), SingleOpGroups(graph));
}

TEST(NotedPlanner, OffersTheSamePlansAndTellsTheirMeanAndHowMuchTheyDiffer) {
  const auto lists = MakeHeuristic("randomised-list");
  Budget budget;
  budget.samples = 7;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const CostedGraph costed = Problem(seed);
    const NotedPlanner noted(*lists);
    const std::vector<Assignment> plans = Offers(noted, costed, budget, Random(seed));
    EXPECT_EQ(plans, Offers(*lists, costed, budget, Random(seed)));
    double sum = 0, distance = 0, pairs = 0;
    for (std::size_t a = 0; a < plans.size(); ++a) {
      sum += MakeTimeline(costed, plans[a]).makespan;
      for (std::size_t b = 0; b < a; ++b, ++pairs)
        distance += ChainEditDistance(ChainEdges(costed.topology, plans[a]), ChainEdges(costed.topology, plans[b]));
    }
    ASSERT_TRUE(noted.mean_makespan() && noted.distance());
    EXPECT_NEAR(*noted.mean_makespan(), sum / 7, 1e-9 * sum);
    EXPECT_NEAR(*noted.distance(), distance / pairs, 1e-9);
  }
}

TEST(NotedPlanner, SaysNothingBeforeItHasDrawnAndNothingOfTheDistanceOfOnePlan) {
  const auto heft = MakeHeuristic("heft");
  const CostedGraph costed = Problem(3);
  const NotedPlanner noted(*heft);
  EXPECT_FALSE(noted.mean_makespan());
  Offers(noted, costed, {}, Random(0));
  EXPECT_TRUE(noted.mean_makespan());
  EXPECT_FALSE(noted.distance());
}

}  // namespace
}  // namespace millrace::testing
