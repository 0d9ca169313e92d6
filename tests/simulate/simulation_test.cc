// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/simulation.h"

#include <gtest/gtest.h>

#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

// Against the simulator that is written from the rules alone.
TEST(Simulation, SaysOfEveryPlanWhatTheRulesSay) {
  int overfull = 0;
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(300); ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    PlanRecord record;
    record.machine = testing::RandomMachine(random, {.memory = true});
    record.plan = testing::RandomPlan(random, graph, record.machine, testing::RandomGroups(random, graph));
    const Simulation simulation = Simulate(graph, record);
    const testing::SlowTimeline slow = testing::SlowSimulate(graph, record.machine, record.plan);
    ASSERT_EQ(simulation.peak_memory.size(), slow.peak_memory_bytes.size());
    for (std::size_t device = 0; device < slow.peak_memory_bytes.size(); ++device)
      EXPECT_NEAR(simulation.peak_memory[device], slow.peak_memory_bytes[device],
                  1e-9 * slow.peak_memory_bytes[device]);
    for (std::size_t group = 0; group < slow.start.size(); ++group) {
      EXPECT_NEAR(simulation.timeline.start[group], slow.start[group], 1e-9 * slow.makespan);
      EXPECT_NEAR(simulation.timeline.finish[group], slow.finish[group], 1e-9 * slow.makespan);
    }
    EXPECT_EQ(simulation.feasible, slow.feasible) << seed;
    overfull += slow.feasible ? 0 : 1;
    EXPECT_NEAR(simulation.lower_bound, testing::SlowLowerBound(graph, record.machine, record.plan.groups),
                1e-9 * slow.makespan);
    EXPECT_GE(simulation.proven_bound, simulation.lower_bound * (1 - 1e-12));
    EXPECT_LE(simulation.proven_bound, slow.makespan * (1 + 1e-9));
  }
  EXPECT_GT(overfull, testing::Rounds(10));
}

TEST(Simulation, GoesByTheProxyOfTheRecord) {
  Random random(3);
  int differ = 0;
  for (int i = 0; i < 100; ++i) {
    const ComputationGraph graph = testing::RandomGraph(random);
    PlanRecord record;
    record.machine = testing::RandomMachine(random);
    record.plan = testing::RandomPlan(random, graph, record.machine, testing::RandomGroups(random, graph));
    const double linear = Simulate(graph, record).timeline.makespan;
    record.proxy = Proxy::kContended;
    differ += Simulate(graph, record).timeline.makespan > linear * (1 + 1e-9) ? 1 : 0;
  }
  EXPECT_GT(differ, 5);
}

}  // namespace
}  // namespace millrace
