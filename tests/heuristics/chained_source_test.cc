// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/chained_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/best_of.h"
#include "millrace/plan/plan.h"
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

TEST(ChainedSource, OffersWhatEachOffersInTurnWithAGeneratorOfItsOwn) {
  const std::vector<std::shared_ptr<const CandidateSource>> sources = {MakeHeuristic("randomised-list"),
                                                                       MakeHeuristic("heft"), MakeHeuristic("random")};
  const auto chain = MakeChainedSource("three", sources);
  EXPECT_EQ(chain->name(), "three");
  EXPECT_FALSE(chain->one_answer());
  SourceBudget budget;
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

TEST(ChainedSource, TheBestOfAllHeuristicsIsNowhereBehindTheBetterHeftWhichIsNowhereBehindEither) {
  const auto least = [](const CandidateSource& source, const CostedGraph& costed) {
    Random random(1);
    return RunSource(source, costed, {}, random, 1).kept.front().makespan;
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
