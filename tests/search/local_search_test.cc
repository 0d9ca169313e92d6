// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/local_search.h"

#include <gtest/gtest.h>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/verify.h"
#include "millrace/search/anneal.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

using testing::CostedProblem;

LocalSearchOptions Iterations(std::int64_t iterations) {
  LocalSearchOptions options;
  options.iterations = iterations;
  return options;
}

TEST(Improve, IsValidNeverWorseThanItsStartAndTimedAsTheSlowSimulatorSays) {
  Random random(51);
  int better = 0;
  for (int round = 0; round < 150; ++round) {
    const CostedProblem problem(random);
    LocalSearch local_search(problem.costed);
    const Assignment start = problem.Start(random);
    const double before = MakeTimeline(problem.costed, start).makespan;
    LocalSearchOptions options = Iterations(500);
    if (round % 3 == 0) options.first_annealing_temperature = 0;
    if (round % 3 == 1) options.first_annealing_temperature = 10;
    Random draw(5);
    const RatedAssignment polished = local_search.Improve(start, options, draw);
    const Plan plan{problem.costed.groups, polished.assignment.placement, polished.assignment.sequence};
    ASSERT_EQ(WhyNotValid(problem.graph, problem.machine, plan), std::nullopt);
    const double slow = testing::SlowSimulate(problem.graph, problem.machine, plan).makespan;
    EXPECT_NEAR(polished.makespan, slow, 1e-9 * slow);
    EXPECT_LE(polished.makespan, before);
    better += polished.makespan < before ? 1 : 0;
  }
  EXPECT_GT(better, 100);
}

TEST(Improve, GivesTheSamePlanForTheSameSeedHoweverOftenThePolisherWasUsed) {
  Random random(52);
  for (int round = 0; round < 30; ++round) {
    const CostedProblem problem(random);
    const Assignment start = problem.Start(random);
    LocalSearch local_search(problem.costed), used(problem.costed);
    Random first(9), second(9), other(10);
    used.Improve(start, Iterations(300), other);
    const RatedAssignment a = local_search.Improve(start, Iterations(1000), first);
    const RatedAssignment b = used.Improve(start, Iterations(1000), second);
    EXPECT_EQ(a.assignment, b.assignment);
    EXPECT_EQ(a.makespan, b.makespan);
  }
}

TEST(Improve, GivesBackTheStartWithoutIterations) {
  Random random(53);
  const CostedProblem problem(random);
  const Assignment start = problem.Start(random);
  const RatedAssignment polished = LocalSearch(problem.costed).Improve(start, Iterations(0), random);
  EXPECT_EQ(polished.assignment, start);
  EXPECT_EQ(polished.makespan, MakeTimeline(problem.costed, start).makespan);
}

TEST(Improve, StaysWithinMemoryOnceItIsThereAndMayGetThere) {
  Random random(54);
  testing::RandomProblemOptions options;
  options.memory = true;
  int fitting = 0, made_to_fit = 0;
  for (int round = 0; round < 200; ++round) {
    const CostedProblem problem(random, options);
    const Assignment start = problem.Start(random);
    const bool fits = FitsInMemory(problem.costed, start);
    const RatedAssignment polished = LocalSearch(problem.costed).Improve(start, Iterations(300), random);
    const bool fits_now = FitsInMemory(problem.costed, polished.assignment);
    if (fits) {
      EXPECT_TRUE(fits_now);
    }
    fitting += fits ? 1 : 0;
    made_to_fit += !fits && fits_now ? 1 : 0;
  }
  EXPECT_GT(fitting, 5);
  EXPECT_GT(made_to_fit, 5);
}

TEST(Improve, StopsAtItsTimeLimit) {
  Random random(55);
  const CostedProblem problem(random);
  LocalSearchOptions options;
  options.seconds = 0.01;
  const Assignment start = problem.Start(random);
  EXPECT_LE(LocalSearch(problem.costed).Improve(start, options, random).makespan,
            MakeTimeline(problem.costed, start).makespan);
}

TEST(Improve, HasNothingToDoForAnEmptyGraph) {
  const ComputationGraph graph{GraphData{}};
  Random random(56);
  const Machine machine = testing::RandomMachine(random);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), {});
  EXPECT_EQ(LocalSearch(costed).Improve({}, {}, random).assignment, Assignment{});
}

TEST(Anneal, StartsFromThePlansItIsGiven) {
  Random random(57);
  for (int round = 0; round < 20; ++round) {
    const CostedProblem problem(random);
    AnnealOptions options;
    options.starts = {problem.Start(random), problem.Start(random)};
    Budget nothing;
    nothing.iterations = 0;
    std::vector<Assignment> offers;
    MakeAnnealing(options)->Propose(problem.costed, nothing, random,
                                    [&offers](ProposedPlan offer) { offers.push_back(std::move(offer.assignment)); });
    EXPECT_EQ(offers, options.starts);
  }
}

}  // namespace
}  // namespace millrace
