// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/priced_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/path_bounds.h"
#include "millrace/simulate/proven_bound.h"
#include "millrace/simulate/timeline.h"
#include "millrace/simulate/work_bound.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_optimum.h"

namespace millrace {
namespace {

constexpr double kRounded = 1 + 1e-9;

// `ops` in a row or side by side, of these seconds and 10 bytes of weights, on a fast device of some memory and a slow
// one with enough.
CostedGraph FastAndSlow(int ops, bool row, double fast, double slow, std::optional<double> memory) {
  GraphData data;
  data.ops.resize(static_cast<std::size_t>(ops));
  for (Op& op : data.ops) {
    op.seconds.by_kind = {{"fast", fast}, {"slow", slow}};
    op.weight_bytes = 10;
  }
  for (int op = 1; row && op < ops; ++op) data.tensors.push_back({"t" + std::to_string(op), op - 1, {op}, 0, false});
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices = {{"0", "fast", {0}, 1, 1, memory, 0}, {"1", "slow", {1}, 1, 1, std::nullopt, 0}};
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

TEST(PricedBound, KnowsHowMuchOfAChainTheFastDeviceHasNoRoomFor) {
  const CostedGraph costed = FastAndSlow(10, true, 1, 5, 40.0);
  EXPECT_EQ(LowerBound(costed), 10);
  EXPECT_NEAR(PricedBound(costed), 4 * 1 + 6 * 5, 0.05);
  EXPECT_GE(ProvenBound(costed), PricedBound(costed));
}

TEST(PricedBound, KnowsHowMuchWorkTheFastDeviceHasNoRoomFor) {
  // The slow one is the last to end: 8 of 10 ops side by side lie there.
  EXPECT_NEAR(PricedBound(FastAndSlow(10, false, 1, 5, 20.0)), 8 * 5, 0.05);
  EXPECT_NEAR(PricedBound(FastAndSlow(60, false, 1, 40, 200.0)), 40 * 40, 10);
}

TEST(PricedBound, SaysNothingWhereAllWeightsFitAnywhereOrSomeNowhere) {
  EXPECT_EQ(PricedBound(FastAndSlow(10, true, 1, 5, std::nullopt)), 0);
  EXPECT_EQ(PricedBound(FastAndSlow(10, true, 1, 5, 100.0)), 0);
  GraphData data;
  data.ops.resize(1);
  data.ops[0].weight_bytes = 10;
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices.push_back({"0", "cpu", {0}, 1, 1, 5.0, 0});
  EXPECT_EQ(PricedBound(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph))), 0);
}

TEST(PricedBound, IsNoneAboveTheEnumeratedOptimumOfPlansThatFit) {
  int above_the_others = 0;
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(600); ++seed) {
    Random random(seed);
    testing::RandomProblemOptions options;
    options.most_ops = 5;
    options.most_devices = 3;
    options.tidy = seed % 3 == 0;
    options.links = seed % 4 == 0;
    options.memory = seed % 5 > 0;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(graph, testing::RandomMachine(random, options)), SingleOpGroups(graph));
    const double bound = PricedBound(costed);
    ASSERT_LE(bound, testing::SlowOptimum(costed) * kRounded) << seed;
    ASSERT_LE(bound, testing::SlowContendedOptimum(costed) * kRounded) << seed;
    const double others = std::max({LowerBound(costed), MakePathBounds(costed).longest, MakeWorkBound(costed).seconds});
    above_the_others += bound > others * 1.01 ? 1 : 0;
  }
  EXPECT_GT(above_the_others, testing::kSanitized ? 0 : 8);
}

TEST(PricedBound, IsKeptByEveryPlanThatFits) {
  int fitting = 0, memory_counts = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random, {.memory = true});
    const FusionGroups groups = testing::RandomGroups(random, graph);
    CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), groups);
    const double bound = PricedBound(costed);
    for (int plans = 0; plans < 10; ++plans) {
      const Plan plan = testing::RandomPlan(random, graph, machine, groups);
      const Assignment assignment{plan.placement, plan.sequence};
      if (!FitsInMemory(costed, assignment)) continue;
      ++fitting;
      ASSERT_LE(bound, MakeTimeline(costed, assignment).makespan * kRounded) << seed;
      ASSERT_LE(bound, ContendedTimeline(costed, assignment).makespan * kRounded) << seed;
    }
    costed.limited_memory = false;
    memory_counts += bound > PricedBound(costed) * 1.01 ? 1 : 0;
  }
  EXPECT_GT(fitting, 500);
  EXPECT_GT(memory_counts, 30);
}

TEST(PricedBound, HoldsPlansThatDoNotFitAgainstMemoriesWithoutLimits) {
  const CostedGraph costed = FastAndSlow(10, true, 1, 5, 40.0);
  EXPECT_GT(ProvenBoundFor(costed, true), 30);
  EXPECT_EQ(ProvenBoundFor(costed, false), 10);
}

}  // namespace
}  // namespace millrace
