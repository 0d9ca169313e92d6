// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/anneal.h"
#include "millrace/heuristics/heuristics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stop_token>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/offers.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_optimum.h"

namespace millrace {
namespace {

using testing::Offers;

double BestMakespan(const CostedGraph& costed, const std::vector<Assignment>& answers) {
  Simulator simulator(costed);
  double best = std::numeric_limits<double>::infinity();
  for (const Assignment& answer : answers) best = std::min(best, simulator.Makespan(answer));
  return best;
}

TEST(Anneal, FindsTheOptimumOfTinyProblems) {
  Random random(12);
  testing::RandomProblemOptions problem;
  problem.most_ops = 5;
  problem.most_devices = 3;
  for (int round = 0; round < 60; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random, problem);
    const Machine machine = testing::RandomMachine(random, problem);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
    Budget budget;
    budget.iterations = 12000;
    const double optimum = testing::SlowOptimum(costed);
    EXPECT_NEAR(BestMakespan(costed, Offers(*MakeAnnealing(), costed, budget, Random(1))), optimum, 1e-6 * optimum)
        << round;
  }
}

TEST(Anneal, IsNeverWorseThanTheHeftItStartsFrom) {
  Random random(13);
  testing::RandomProblemOptions problem;
  problem.most_ops = 80;
  for (int round = 0; round < 20; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random, problem);
    const Machine machine = testing::RandomMachine(random, problem);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
    Budget budget;
    budget.iterations = 2000;
    EXPECT_LE(BestMakespan(costed, Offers(*MakeAnnealing(), costed, budget, Random(1))),
              BestMakespan(costed, Offers(*MakeHeuristic("heft"), costed, budget, Random(1))));
  }
}

TEST(Anneal, NeverFindsAWorsePlanWithMoreIterations) {
  Random random(16);
  testing::RandomProblemOptions problem;
  problem.most_ops = 40;
  int better = 0;
  for (int round = 0; round < testing::Rounds(64); ++round) {
    const testing::CostedProblem given(random, problem);
    double before = std::numeric_limits<double>::infinity();
    for (const std::int64_t iterations : {500, 700, 1000, 2000, 4500, 8000}) {
      Budget budget;
      budget.iterations = iterations;
      const double found = BestMakespan(given.costed, Offers(*MakeAnnealing(), given.costed, budget, Random(1)));
      EXPECT_LE(found, before * (1 + 1e-9)) << round << ", " << iterations;
      better += found < before ? 1 : 0;
      before = found;
    }
  }
  EXPECT_GT(better, testing::Rounds(64 + 30));
}

TEST(Anneal, NeverLeavesAPlanThatFitsForOneThatDoesNot) {
  Random random(14);
  testing::RandomProblemOptions problem;
  problem.memory = true;
  int fitting_starts = 0;
  for (int round = 0; round < 60; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random, problem);
    const Machine machine = testing::RandomMachine(random, problem);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
    Budget budget;
    budget.iterations = 2000;
    const std::vector<Assignment> heft = Offers(*MakeHeuristic("heft"), costed, budget, Random(1));
    if (!FitsInMemory(costed, heft.front())) continue;
    ++fitting_starts;
    EXPECT_TRUE(FitsInMemory(costed, Offers(*MakeAnnealing(), costed, budget, Random(1)).front()));
  }
  EXPECT_GT(fitting_starts, 5);
}

TEST(Anneal, EndsWithThePlanItHasWhereItIsAskedToStop) {
  Random random(17);
  const testing::CostedProblem problem(random);
  std::stop_source source;
  source.request_stop();
  AnnealOptions options;
  options.stop = source.get_token();
  Budget hour;
  hour.seconds = 3600;
  Budget none;
  none.iterations = 0;
  EXPECT_EQ(Offers(*MakeAnnealing(options), problem.costed, hour, Random(1)),
            Offers(*MakeAnnealing(), problem.costed, none, Random(1)));
}

TEST(Anneal, StopsAtItsTimeLimit) {
  Random random(15);
  const ComputationGraph graph = testing::RandomGraph(random);
  const Machine machine = testing::RandomMachine(random);
  const auto model = MakeAnalyticCostModel(graph, machine);
  const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
  Budget budget;
  budget.seconds = 0.02;
  AnnealOptions options;
  options.chains = 4;
  EXPECT_EQ(Offers(*MakeAnnealing(options), costed, budget, Random(1)).size(), 4U);
}

}  // namespace
}  // namespace millrace
