// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/peak_memory.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

using testing::RandomProblemOptions;

void ExpectClose(const std::vector<double>& fast, const std::vector<double>& slow) {
  ASSERT_EQ(fast.size(), slow.size());
  for (std::size_t i = 0; i < fast.size(); ++i) ASSERT_NEAR(fast[i], slow[i], 1e-9 * (1 + slow[i])) << "entry " << i;
}

void HoldAgainstReference(std::uint64_t seed, const RandomProblemOptions& options) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Random random(seed);
  const ComputationGraph graph = testing::RandomGraph(random, options);
  const Machine machine = testing::RandomMachine(random, options);
  const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(graph, machine);
  for (int round = 0; round < 3; ++round) {
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    ASSERT_EQ(WhyNotValid(graph, machine, plan), std::nullopt);
    const CostedGraph costed = MakeCostedGraph(*model, plan.groups);
    const Assignment assignment{plan.placement, plan.sequence};
    const testing::SlowTimeline slow = testing::SlowSimulate(graph, machine, plan);
    Simulator simulator(costed);
    Timeline fast;
    simulator.Run(assignment, fast);
    if (options.tidy) {
      ASSERT_EQ(fast.start, slow.start);
      ASSERT_EQ(fast.finish, slow.finish);
      ASSERT_EQ(fast.makespan, slow.makespan);
    } else {
      ExpectClose(fast.start, slow.start);
      ExpectClose(fast.finish, slow.finish);
      ASSERT_NEAR(fast.makespan, slow.makespan, 1e-9 * (1 + slow.makespan));
    }
    ASSERT_EQ(simulator.Makespan(assignment), fast.makespan);
    const std::vector<double> by_memory = PeakMemory(costed, assignment, fast);
    std::vector<double> by_device;
    for (const std::int32_t memory : costed.topology.memory_of)
      by_device.push_back(by_memory[static_cast<std::size_t>(memory)]);
    ExpectClose(by_device, slow.peak_memory_bytes);
    ASSERT_EQ(FitsInMemory(costed, assignment), slow.feasible);
  }
}

TEST(Timeline, EqualsTheSlowSimulatorOnRandomProblems) {
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(600); ++seed) {
    RandomProblemOptions options;
    options.memory = seed % 3 == 0;
    options.gangs = seed % 5 != 0;
    options.links = seed % 7 != 0;
    HoldAgainstReference(seed, options);
    if (HasFatalFailure()) return;
  }
}

TEST(Timeline, EqualsTheSlowSimulatorToTheBitWhereSumsAreExactAndTiesCommon) {
  for (std::uint64_t seed = 10000; seed < 10000 + testing::Rounds<std::uint64_t>(600); ++seed) {
    RandomProblemOptions options;
    options.tidy = true;
    options.memory = seed % 2 == 0;
    options.kinds = seed % 4 != 0;
    options.links = seed % 5 != 0;
    HoldAgainstReference(seed, options);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace millrace
