// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/memory_check.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/contention.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

TEST(MemoryCheck, SaysWhatPeaksOfTheTimelineSayAndTheOrderAloneNeverPromisesTooMuch) {
  int promised = 0, refused = 0, fitting = 0, overfull = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random, {.memory = true});
    for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
      const FusionGroups groups = testing::RandomGroups(random, graph);
      const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine, proxy), groups);
      MemoryCheck check(costed);
      for (int plans = 0; plans < 4; ++plans) {
        const Plan plan = testing::RandomPlan(random, graph, machine, groups);
        const Assignment assignment{plan.placement, plan.sequence};
        const bool fits = Fits(costed, PeakMemory(costed, assignment, MakeTimeline(costed, assignment)));
        EXPECT_EQ(check.Fits(assignment), fits) << seed;
        EXPECT_EQ(FitsInMemory(costed, assignment), fits) << seed;
        (fits ? fitting : overfull) += 1;
        const MemoryCheck::ByOrder by_order = check.WheneverGroupsRun(assignment);
        if (by_order == MemoryCheck::ByOrder::kOpen) continue;
        const bool promises = by_order == MemoryCheck::ByOrder::kFits;
        (promises ? promised : refused) += 1;
        EXPECT_EQ(promises, fits) << seed;
        EXPECT_EQ(promises, Fits(costed, PeakMemory(costed, assignment, ContendedTimeline(costed, assignment))))
            << seed;
      }
    }
  }
  EXPECT_GT(overfull, 100);
  EXPECT_GT(promised, fitting / 2);
  EXPECT_GT(refused, overfull / 2);
}

TEST(MemoryCheck, KnowsByTheOrderAloneWhatFitsOnOneDevice) {
  // 0 -> 1 -> 2 in a row: 1 and 2 are never there together with 0's tensor and 2's own.
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.ops[1].weight_bytes = 7;
  data.tensors = {{"a", 0, {1}, 10, false}, {"b", 1, {2}, 20, false}, {"c", 2, {}, 30, true}};
  const ComputationGraph graph(std::move(data));
  for (const double capacity : {57.5, 56.5}) {
    Machine machine;
    machine.devices.push_back({"d", "cpu", {0}, 1, 1, capacity, 0});
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    EXPECT_EQ(MemoryCheck(costed).WheneverGroupsRun({{0, 0, 0}, {0, 1, 2}}),
              capacity > 57 ? MemoryCheck::ByOrder::kFits : MemoryCheck::ByOrder::kOverflows);
    EXPECT_EQ(MemoryCheck(costed).Fits({{0, 0, 0}, {0, 1, 2}}), capacity > 57);
  }
}

}  // namespace
}  // namespace millrace
