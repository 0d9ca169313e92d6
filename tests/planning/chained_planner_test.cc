// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/chained_planner.h"
#include "millrace/heuristics/heuristics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/plan.h"
#include "millrace/planning/best_of.h"
#include "tests/reference/offers.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using testing::Offers;

CostedGraph Problem(std::uint64_t seed) {
  Random random(seed);
  const ComputationGraph graph = testing::RandomGraph(random);
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, testing::RandomMachine(random)), SingleOpGroups(graph));
}

TEST(ChainedPlanner, OffersWhatEachOffersInTurnWithAGeneratorOfItsOwn) {
  const std::vector<std::shared_ptr<const Planner>> sources = {MakeHeuristic("randomised-list"), MakeHeuristic("heft"),
                                                               MakeHeuristic("random")};
  const auto chain = MakeChainedPlanner("three", sources);
  EXPECT_EQ(chain->name(), "three");
  EXPECT_FALSE(chain->traits().one_answer);
  Budget budget;
  budget.samples = 5;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const CostedGraph costed = Problem(seed);
    std::vector<Assignment> expected;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      for (Assignment& offer : Offers(*sources[i], costed, budget, Random(seed).Fork(i)))
        expected.push_back(std::move(offer));
    }
    EXPECT_EQ(expected.size(), 11u);
    EXPECT_EQ(Offers(*chain, costed, budget, Random(seed)), expected);
  }
}

TEST(ChainedPlanner, AskedToStopAsksNobodyOnceThereIsAnOffer) {
  const std::vector<std::shared_ptr<const Planner>> sources = {MakeHeuristic("heft"), MakeHeuristic("random")};
  const CostedGraph costed = Problem(1);
  std::stop_source stop;
  const auto chain = MakeChainedPlanner("two", sources, stop.get_token());
  EXPECT_EQ(Offers(*chain, costed, {}, Random(1)).size(), 2u);
  stop.request_stop();
  EXPECT_EQ(Offers(*chain, costed, {}, Random(1)), Offers(*sources.front(), costed, {}, Random(1)));
}

TEST(ChainedPlanner, TheBestOfAllHeuristicsIsNowhereBehindTheBetterHeftWhichIsNowhereBehindEither) {
  const auto least = [](const Planner& source, const CostedGraph& costed) {
    Random random(1);
    return RunPlanner(source, costed, {}, random, 1).kept.front().makespan;
  };
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const CostedGraph costed = Problem(seed);
    const double heft = least(*MakeHeftReference(), costed);
    EXPECT_EQ(heft, std::min(least(*MakeHeuristic("heft"), costed), least(*MakeHeuristic("heft-append"), costed)));
    EXPECT_LE(least(*MakeAllHeuristics(), costed), heft);
  }
}

}  // namespace
}  // namespace millrace
