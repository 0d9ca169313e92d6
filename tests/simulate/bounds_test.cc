// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/bounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

TEST(Bounds, EqualTheSlowBoundAndHoldForEveryPlanOnRandomProblems) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(600); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    testing::RandomProblemOptions options;
    options.group_seconds = seed % 3 != 0;
    options.tidy = seed % 2 == 0;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const double under_any_fusion = FusionFreeBound(graph, machine);
    for (int round = 0; round < 4; ++round) {
      const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
      const CostedGraph costed = MakeCostedGraph(*model, plan.groups);
      const double bound = LowerBound(costed);
      const double makespan = MakeTimeline(costed, {plan.placement, plan.sequence}).makespan;
      ASSERT_NEAR(bound, testing::SlowLowerBound(graph, machine, plan.groups), 1e-9 * (1 + bound));
      ASSERT_LE(bound, makespan * (1 + 1e-12));
      ASSERT_LE(under_any_fusion, makespan * (1 + 1e-12));
      tight += under_any_fusion > 0.5 * makespan ? 1 : 0;
    }
  }
  EXPECT_GT(tight, testing::Rounds(100));  // a bound of nothing would hold, too
}

TEST(Bounds, CountTheUnitsOfGangs) {
  GraphData data;
  data.ops.resize(4);
  for (Op& op : data.ops) op.seconds.by_kind = {{"core", 2.0}, {"pair", 1.5}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices = {{"0", "core", {0}, 1, 1, std::nullopt, 0},
                     {"1", "core", {1}, 1, 1, std::nullopt, 0},
                     {"0+1", "pair", {0, 1}, 1, 1, std::nullopt, 0}};
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  // Critical path 1.5; work 4 ops x 2 unit-seconds over 2 units.
  EXPECT_EQ(LowerBound(costed), 4.0);
}

TEST(Bounds, LookAtEveryDeviceAGroupCanUseWhateverItsColocationCloses) {
  GraphData data;
  data.ops.resize(2);
  data.ops[0].seconds.by_kind = {{"fast", 1.0}, {"slow", 9.0}};
  data.ops[1].seconds.by_kind = {{"slow", 1.0}};
  data.ops[0].colocate = data.ops[1].colocate = "together";
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices = {{"0", "fast", {0}, 1, 1, std::nullopt, 0}, {"1", "slow", {1}, 1, 1, std::nullopt, 0}};
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  EXPECT_EQ(LowerBound(costed), 1.0);
  EXPECT_TRUE(std::isinf(costed.Seconds(0, 0)));
}

TEST(Bounds, GapIsTheShareAboveTheBound) {
  EXPECT_DOUBLE_EQ(Gap(3.0, 2.0), 0.5);
  EXPECT_EQ(Gap(3.0, 0.0), 0.0);
}

}  // namespace
}  // namespace millrace
