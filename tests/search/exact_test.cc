// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/exact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/search/symmetric_devices.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_optimum.h"

namespace millrace {
namespace {

CostedGraph Costed(const ComputationGraph& graph, const Machine& machine) {
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

CostedGraph Layered(std::int64_t ops, double ccr, std::uint64_t seed, const char* preset) {
  RandomGraphOptions options;
  options.ops = ops;
  options.ccr = ccr;
  options.seed = seed;
  return Costed(MakeRandomGraph("layered", options), *MachinePreset(preset));
}

TEST(Exact, FindsTheOptimaThatEnumerationFinds) {
  Random random(61);
  int none_fits = 0;
  for (int round = 0; round < 120; ++round) {
    testing::RandomProblemOptions problem;
    problem.most_ops = 5;
    problem.most_devices = 3;
    problem.memory = round % 4 == 0;
    problem.tidy = round % 3 == 0;
    problem.links = round % 5 > 0;
    const CostedGraph costed = Costed(testing::RandomGraph(random, problem), testing::RandomMachine(random, problem));
    const double optimum = testing::SlowOptimum(costed);
    const ExactResult result = SolveExactly(costed, {}, random);
    ASSERT_TRUE(result.proven) << round;
    if (optimum == std::numeric_limits<double>::infinity()) {
      EXPECT_FALSE(result.best);
      EXPECT_EQ(result.bound, optimum);
      ++none_fits;
      continue;
    }
    ASSERT_TRUE(result.best) << round;
    EXPECT_NEAR(result.best->makespan, optimum, 1e-9 * optimum) << round;
    EXPECT_NEAR(result.bound, optimum, 1e-9 * optimum) << round;
    EXPECT_EQ(result.best->makespan, MakeTimeline(costed, result.best->assignment).makespan);
    EXPECT_TRUE(FitsInMemory(costed, result.best->assignment));
  }
  EXPECT_GT(none_fits, 0);
}

// Identical devices are where the search leaves most out.
TEST(Exact, FindsTheOptimaOfIdenticalDevicesThatEnumerationFinds) {
  Random random(62);
  for (int round = 0; round < testing::Rounds(60); ++round) {
    testing::RandomProblemOptions problem;
    problem.most_ops = 6;
    problem.kinds = problem.gangs = false;
    problem.colocate = round % 2 == 0;
    problem.tidy = round % 3 == 0;
    const char* preset = round % 4 < 2 ? "homogeneous:3" : "homogeneous:3,latency=0.1,bandwidth=1";
    const CostedGraph costed = Costed(testing::RandomGraph(random, problem), *MachinePreset(preset));
    const double optimum = testing::SlowOptimum(costed);
    const ExactResult result = SolveExactly(costed, {}, random);
    ASSERT_TRUE(result.proven && result.best) << round;
    EXPECT_NEAR(result.best->makespan, optimum, 1e-9 * optimum) << round;
  }
}

// The worst of eight random plans.
Assignment BadPlan(Random& random, const ComputationGraph& graph, const Machine& machine, const CostedGraph& costed) {
  Simulator simulator(costed);
  Assignment worst;
  for (int i = 0; i < 8; ++i) {
    const Plan plan = testing::RandomPlan(random, graph, machine, costed.groups);
    const Assignment drawn{plan.placement, plan.sequence};
    if (i == 0 || simulator.Makespan(drawn) > simulator.Makespan(worst)) worst = drawn;
  }
  return worst;
}

// An annealed start is often the optimum already, which hides a search that finds nothing.
TEST(Exact, FindsTheOptimaThatEnumerationFindsFromBadPlansOnUnlikeDevices) {
  Random random(63);
  int improved = 0;
  for (int round = 0; round < testing::Rounds(600); ++round) {
    testing::RandomProblemOptions problem;
    problem.most_ops = 5;
    problem.most_devices = 3;
    problem.memory = round % 4 == 0;
    problem.links = round % 5 > 0;
    const ComputationGraph graph = testing::RandomGraph(random, problem);
    const Machine machine = testing::RandomMachine(random, problem);
    const CostedGraph costed = Costed(graph, machine);
    const double optimum = testing::SlowOptimum(costed);
    if (optimum == std::numeric_limits<double>::infinity()) continue;
    ExactOptions options;
    options.start = BadPlan(random, graph, machine, costed);
    const double begun = MakeTimeline(costed, *options.start).makespan;
    const ExactResult result = SolveExactly(costed, options, random);
    ASSERT_TRUE(result.proven && result.best) << round;
    EXPECT_NEAR(result.best->makespan, optimum, 1e-9 * optimum) << round;
    EXPECT_NEAR(result.bound, optimum, 1e-9 * optimum) << round;
    EXPECT_TRUE(FitsInMemory(costed, result.best->assignment)) << round;
    improved += optimum < begun * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(improved, testing::Rounds(300));
}

TEST(Exact, BoundsFromTheRootAreNoneAboveTheEnumeratedOptimum) {
  Random random(64);
  for (int round = 0; round < testing::Rounds(200); ++round) {
    testing::RandomProblemOptions problem;
    problem.most_ops = 5;
    problem.most_devices = 3;
    const ComputationGraph graph = testing::RandomGraph(random, problem);
    const Machine machine = testing::RandomMachine(random, problem);
    const CostedGraph costed = Costed(graph, machine);
    const double optimum = testing::SlowOptimum(costed);
    ExactOptions options;
    options.start = BadPlan(random, graph, machine, costed);
    for (const std::int64_t nodes : {0, 1}) {
      options.nodes = nodes;
      const ExactResult result = SolveExactly(costed, options, random);
      EXPECT_LE(result.bound, optimum * (1 + 1e-9)) << round;
      EXPECT_TRUE(nodes > 0 || result.nodes == 0) << round;
    }
  }
}

TEST(Exact, BoundsPlansOnSharedLinksAndProvesOnlyWhatEnumerationFinds) {
  Random random(66);
  int proven = 0;
  for (int round = 0; round < testing::Rounds(150); ++round) {
    testing::RandomProblemOptions problem;
    problem.most_ops = 5;
    problem.most_devices = 3;
    problem.memory = round % 4 == 0;
    CostedGraph costed = Costed(testing::RandomGraph(random, problem), testing::RandomMachine(random, problem));
    costed.topology.proxy = Proxy::kContended;
    const double optimum = testing::SlowContendedOptimum(costed);
    const ExactResult result = SolveExactly(costed, {}, random);
    EXPECT_LE(result.bound, optimum * (1 + 1e-9)) << round;
    if (result.best) {
      EXPECT_EQ(result.best->makespan, MakeTimeline(costed, result.best->assignment).makespan);
      EXPECT_TRUE(FitsInMemory(costed, result.best->assignment));
      EXPECT_GE(result.best->makespan, optimum * (1 - 1e-9)) << round;
    }
    if (!result.proven) continue;
    EXPECT_NEAR(result.best->makespan, optimum, 1e-9 * optimum) << round;
    ++proven;
  }
  EXPECT_GT(proven, testing::Rounds(75));
}

TEST(Exact, OffersThePlanItBeganWithWhereItMaySearchNoNode) {
  const CostedGraph costed = Layered(12, 2, 3, "homogeneous:3,bandwidth=1e9");
  Random random(1);
  ExactOptions options;
  options.start =
      Assignment{std::vector<int>(12, 2), {costed.topological_order.begin(), costed.topological_order.end()}};
  Budget budget;
  budget.iterations = 0;
  int offers = 0;
  MakeExact(options)->Propose(costed, budget, random, [&](const ProposedPlan& offered) {
    EXPECT_EQ(offered.assignment, *options.start);
    ++offers;
  });
  EXPECT_EQ(offers, 1);
}

TEST(Exact, StoppedEarlyStillBoundsTheOptimum) {
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(6); ++seed) {
    const CostedGraph costed = Layered(12, 2, seed, "homogeneous:3,bandwidth=1e9");
    Random random(seed);
    const ExactResult whole = SolveExactly(costed, {}, random);
    ASSERT_TRUE(whole.proven);
    for (const std::int64_t nodes : {0, 300, 3000}) {
      ExactOptions options;
      options.nodes = nodes;
      const ExactResult part = SolveExactly(costed, options, random);
      ASSERT_TRUE(part.best);
      EXPECT_LE(part.bound, whole.best->makespan * (1 + 1e-9));
      EXPECT_GE(part.bound, LowerBound(costed) * (1 - 1e-9));
      EXPECT_GE(part.best->makespan, whole.best->makespan * (1 - 1e-9));
      if (part.proven) {
        EXPECT_NEAR(part.best->makespan, whole.best->makespan, 1e-9 * whole.best->makespan);
      }
    }
  }
}

TEST(Exact, GivesTheSameAtAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(4); ++seed) {
    const CostedGraph costed = Layered(24, seed % 2 == 0 ? 1 : 8, seed, "homogeneous:3,bandwidth=1e9");
    for (const std::int64_t nodes : {std::int64_t{5'000}, testing::Rounds<std::int64_t>(40'000)}) {
      ExactOptions options;
      options.nodes = nodes;
      Random one(seed), two(seed);
      const ExactResult alone = SolveExactly(costed, options, one);
      options.threads = 2;
      const ExactResult together = SolveExactly(costed, options, two);
      ASSERT_TRUE(alone.best && together.best);
      EXPECT_EQ(alone.best->assignment, together.best->assignment);
      EXPECT_EQ(alone.bound, together.bound);
      EXPECT_EQ(alone.nodes, together.nodes);
    }
  }
}

// Where everything fits on one device only, transfers being dear, branching by placement finds no end.
TEST(Exact, ProvesThirtyOpsWithDearTransfersWithinItsUsualNodes) {
  RandomGraphOptions options;
  options.ops = 30;
  options.ccr = 10;
  options.seed = 7'100'000'000;
  const std::vector<const char*> families = {"sbm", "layered", "ba"};
  for (std::size_t i = 0; i < testing::Rounds<std::size_t>(3); ++i) {
    const char* const family = families[i];
    Random random(1);
    EXPECT_TRUE(SolveExactly(Costed(MakeRandomGraph(family, options), *MachinePreset("homogeneous:4,bandwidth=1e9")),
                             {}, random)
                    .proven)
        << family;
  }
}

TEST(Exact, RefusesLargeGraphsInOneLine) {
  const CostedGraph costed = Layered(kMostExactGroups + 1, 1, 0, "homogeneous:2");
  Random random(0);
  try {
    MakeExact()->Propose(costed, {}, random, [](const ProposedPlan&) {});
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("128"), ::testing::HasSubstr("129"),
                                               ::testing::HasSubstr("anneal")));
  }
}

TEST(Exact, ProvesTheEmptyGraphAtOnce) {
  const CostedGraph costed = Costed(ComputationGraph{GraphData{}}, *MachinePreset("homogeneous:2"));
  Random random(0);
  const ExactResult result = SolveExactly(costed, {}, random);
  EXPECT_TRUE(result.proven && result.best);
  EXPECT_EQ(result.bound, 0);
}

TEST(FirstSymmetricDevices, GroupsDevicesThatCanStandForOneAnother) {
  RandomGraphOptions options;
  options.ops = 10;
  const ComputationGraph graph = MakeRandomGraph("layered", options);
  Machine machine = *MachinePreset("homogeneous:4,bandwidth=1e9");
  EXPECT_THAT(FirstSymmetricDevices(Costed(graph, machine)), ::testing::ElementsAre(0, 0, 0, 0));
  machine.links.push_back({2, 3, 0.5, 1e9, std::nullopt});
  EXPECT_THAT(FirstSymmetricDevices(Costed(graph, machine)), ::testing::ElementsAre(0, 0, 2, 3));
  machine.links.push_back({3, 2, 0.5, 1e9, std::nullopt});
  EXPECT_THAT(FirstSymmetricDevices(Costed(graph, machine)), ::testing::ElementsAre(0, 0, 2, 2));
  machine.links.clear();
  machine.devices[1].memory_bytes = 5;
  EXPECT_THAT(FirstSymmetricDevices(Costed(graph, machine)), ::testing::ElementsAre(0, 1, 0, 0));
  machine.devices[1].memory_bytes.reset();
  machine.devices[3].units = {2, 3};
  EXPECT_THAT(FirstSymmetricDevices(Costed(graph, machine)), ::testing::ElementsAre(0, 0, 2, 3));
}

}  // namespace
}  // namespace millrace
