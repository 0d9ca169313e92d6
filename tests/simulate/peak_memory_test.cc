// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/memory_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/cost/analytic_cost.h"

namespace millrace {
namespace {

Machine TwoDevices() {
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d", "cpu", {d}, 1, 1, std::nullopt, 0});
  return machine;
}

std::vector<double> PeaksOf(const ComputationGraph& graph, const Machine& machine, const Assignment& assignment) {
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  return PeakMemory(costed, assignment, MakeTimeline(costed, assignment));
}

TEST(PeakMemory, FreesAtATimeBeforeItHoldsWhatStartsThen) {
  // 0 -> 1 -> 2 in a row: when 2 starts, 0's tensor is gone.
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.tensors = {{"a", 0, {1}, 10, false}, {"b", 1, {2}, 20, false}, {"c", 2, {}, 30, false}};
  const ComputationGraph graph(std::move(data));
  EXPECT_THAT(PeaksOf(graph, TwoDevices(), {{0, 0, 0}, {0, 1, 2}}), ::testing::ElementsAre(50, 0));
}

TEST(PeakMemory, KeepsOutputsToTheEndAndInputsFromTheStart) {
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.ops[2].weight_bytes = 1000;
  data.tensors = {{"input", -1, {1}, 100, false}, {"kept", 0, {}, 10, true}, {"order", 0, {1}, 0, false}};
  const ComputationGraph graph(std::move(data));
  EXPECT_THAT(PeaksOf(graph, TwoDevices(), {{0, 0, 1}, {0, 1, 2}}), ::testing::ElementsAre(110, 1000));
}

TEST(PeakMemory, HoldsACopyOnTheReadersMemoryFromTheProducersFinish) {
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.tensors = {{"a", 0, {1}, 10, false}, {"b", 2, {}, 5, false}};
  const ComputationGraph graph(std::move(data));
  Machine machine = TwoDevices();
  machine.default_link = DefaultLink{7, 1e9};
  // Op 2 runs on device 1 from 0 to 1; the copy of a lies there from 1.
  EXPECT_THAT(PeaksOf(graph, machine, {{0, 1, 1}, {0, 2, 1}}), ::testing::ElementsAre(10, 10));
}

TEST(PeakMemory, IsSharedByDevicesThatShareAUnitAlsoThroughAThird) {
  GraphData data;
  data.ops.resize(2);
  for (Op& op : data.ops) op.seconds.everywhere = 1, op.weight_bytes = 3;
  const ComputationGraph graph(std::move(data));
  Machine machine = TwoDevices();
  machine.devices.push_back({"both", "pair", {0, 1}, 1, 1, 5.0, 0});
  EXPECT_THAT(PeaksOf(graph, machine, {{0, 1}, {0, 1}}), ::testing::ElementsAre(6));
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  EXPECT_FALSE(FitsInMemory(costed, {{0, 1}, {0, 1}}));
}

TEST(PeakMemory, FitsAtExactlyTheCapacityAndNotOneByteBelow) {
  GraphData data;
  data.ops.resize(1);
  data.ops[0].weight_bytes = 1e12;
  data.tensors = {{"a", 0, {}, 24, false}};
  data.ops[0].seconds.everywhere = 1;
  const ComputationGraph graph(std::move(data));
  for (const double capacity : {1e12 + 24, 1e12 + 20}) {
    Machine machine = TwoDevices();
    machine.devices[0].memory_bytes = capacity;
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    EXPECT_EQ(FitsInMemory(costed, {{0}, {0}}), capacity == 1e12 + 24);
    EXPECT_TRUE(FitsInMemory(costed, {{1}, {0}}));
  }
}

TEST(MemoryOverTime, TellsWhatIsHeldFromEveryMomentOn) {
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.ops[1].weight_bytes = 100;
  data.tensors = {{"a", 0, {1}, 10, false}, {"b", 1, {2}, 20, false}, {"c", 2, {}, 30, false}};
  const ComputationGraph graph(std::move(data));
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, TwoDevices()), SingleOpGroups(graph));
  const Assignment assignment{{0, 0, 0}, {0, 1, 2}};
  const std::vector<MemoryUse> uses = MemoryOverTime(costed, assignment, MakeTimeline(costed, assignment));
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_THAT(uses[0].times, ::testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(uses[0].bytes, ::testing::ElementsAre(110, 130, 150, 100));
  EXPECT_THAT(uses[1].times, ::testing::ElementsAre(0));
  EXPECT_THAT(uses[1].bytes, ::testing::ElementsAre(0));
}

}  // namespace
}  // namespace millrace
