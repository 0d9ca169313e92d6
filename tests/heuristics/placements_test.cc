// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <set>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/placed_schedule.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;

struct Problem {
  ComputationGraph graph;
  CostedGraph costed;
};

Problem Make(GraphData data, const Machine& machine) {
  Problem problem;
  problem.graph = ComputationGraph(std::move(data));
  problem.costed = MakeCostedGraph(*MakeAnalyticCostModel(problem.graph, machine), SingleOpGroups(problem.graph));
  return problem;
}

Op MakeOp(double seconds, std::optional<int> layer = std::nullopt) {
  Op op;
  op.seconds.everywhere = seconds;
  op.layer = layer;
  return op;
}

Tensor MakeTensor(OpId producer, std::vector<OpId> consumers, double bytes = 1) {
  Tensor tensor;
  tensor.producer = producer;
  tensor.consumers = std::move(consumers);
  tensor.bytes = bytes;
  return tensor;
}

TEST(PlaceByLayers, CutsConsecutiveLayersWhereTheLongestBlockIsShortest) {
  GraphData data;
  for (const double seconds : {1.0, 1.0, 1.0, 4.0, 2.0, 2.0})
    data.ops.push_back(MakeOp(seconds, static_cast<int>(data.ops.size()) * 10));
  EXPECT_THAT(PlaceByLayers(Make(data, *MachinePreset("homogeneous:3")).costed), ElementsAre(0, 0, 0, 1, 2, 2));
}

TEST(PlaceByLayers, GivesOpsWithoutALayerThatOfWhatTheyReadOrElseOfTheirReaders) {
  GraphData data;
  data.ops = {MakeOp(0), MakeOp(1, 0), MakeOp(1, 1), MakeOp(0)};
  data.tensors = {MakeTensor(0, {2}), MakeTensor(1, {3}), MakeTensor(2, {})};
  EXPECT_THAT(PlaceByLayers(Make(data, *MachinePreset("homogeneous:2")).costed), ElementsAre(1, 0, 1, 0));
}

TEST(PlaceByLayers, TakesTheDepthWhereNoLayersAreKnown) {
  GraphData data;
  for (int i = 0; i < 6; ++i) data.ops.push_back(MakeOp(1));
  data.tensors = {MakeTensor(0, {1}), MakeTensor(1, {2}), MakeTensor(3, {4}), MakeTensor(4, {5})};
  const std::vector<int> placement = PlaceByLayers(Make(data, *MachinePreset("homogeneous:3")).costed);
  EXPECT_THAT(placement, ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(PlaceByPartition, SeparatesTwoChainsThatExchangeLittle) {
  GraphData data;
  constexpr int kLength = 40;
  for (int i = 0; i < 2 * kLength; ++i) {
    data.ops.push_back(MakeOp(1));
    if (i >= 2) data.tensors.push_back(MakeTensor(i - 2, {i}, 1e6));
  }
  data.tensors.push_back(MakeTensor(0, {2 * kLength - 1}, 1));
  const std::vector<int> placement =
      PlaceByPartition(Make(data, *MachinePreset("homogeneous:2,latency=1e-6,bandwidth=1e6")).costed);
  for (std::size_t i = 2; i < placement.size(); ++i) EXPECT_EQ(placement[i], placement[i - 2]);
  EXPECT_NE(placement[0], placement[1]);
}

TEST(PlaceByPartition, SaysNothingOnStandardOutput) {
  Random random(3);
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 300; ++i) {
    testing::RandomProblemOptions options;
    options.most_ops = 1 + static_cast<int>(random.Below(200));
    options.most_devices = 8;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    try {
      PlaceByPartition(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph)));
    } catch (const std::exception&) {
      continue;  // what must share a device can run nowhere
    }
  }
  GraphData heavy;  // all the weight in one vertex
  for (int i = 0; i < 200; ++i) heavy.ops.push_back(MakeOp(i == 0 ? 1 : 0));
  PlaceByPartition(Make(heavy, *MachinePreset("homogeneous:8")).costed);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(PlaceUntilFull, GoesOnToTheNextDeviceOnceTheFirstIsFull) {
  Machine machine = *MachinePreset("homogeneous:3");
  for (Device& device : machine.devices) device.memory_bytes = 100;
  GraphData data;
  for (int i = 0; i < 5; ++i) {
    data.ops.push_back(MakeOp(1));
    data.ops.back().weight_bytes = 40;
  }
  EXPECT_THAT(PlaceUntilFull(Make(data, machine).costed), ElementsAre(0, 0, 1, 1, 2));
}

TEST(ScheduleOnPlacement, StartsTheReadyGroupOfHighestPriorityAndNeverWaits) {
  // 0 and 1 are ready at once; 2, the most urgent, needs the other device's 3 first.
  GraphData data;
  data.ops = {MakeOp(1), MakeOp(1), MakeOp(1), MakeOp(0.5)};
  data.tensors = {MakeTensor(3, {2})};
  const Problem problem = Make(data, *MachinePreset("homogeneous:2"));
  const std::vector<double> priorities = {1, 2, 3, 0};
  const Assignment assignment = ScheduleOnPlacement(problem.costed, {0, 0, 0, 1}, priorities);
  std::vector<int> first_device;
  for (const int group : assignment.sequence) {
    if (group != 3) first_device.push_back(group);
  }
  EXPECT_THAT(first_device, ElementsAre(1, 2, 0));
}

TEST(ScheduleByReadiness, ServesFirstWhatCameFirst) {
  GraphData data;
  data.ops = {MakeOp(3), MakeOp(2), MakeOp(1), MakeOp(1), MakeOp(1)};
  data.tensors = {MakeTensor(1, {4}), MakeTensor(2, {3})};  // 3 arrives at 1, 4 at 2, the device is free at 3
  const Problem problem = Make(data, *MachinePreset("homogeneous:3"));
  const Assignment assignment = ScheduleByReadiness(problem.costed, {0, 1, 2, 0, 0});
  const auto at = [&](int group) { return std::find(assignment.sequence.begin(), assignment.sequence.end(), group); };
  EXPECT_LT(at(0), at(3));
  EXPECT_LT(at(3), at(4));
}

// Any placement in any priorities: valid, and no device idles while something placed on it could have run.
TEST(ScheduleOnPlacement, GivesValidPlansThatLeaveNoDeviceIdleInVain) {
  Random random(5);
  for (int i = 0; i < 150; ++i) {
    testing::RandomProblemOptions options;
    options.colocate = options.gangs = options.kinds = false;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    std::vector<int> placement;
    std::vector<double> priorities;
    for (int group = 0; group < costed.num_groups; ++group) {
      placement.push_back(static_cast<int>(random.Below(static_cast<std::uint64_t>(costed.num_devices))));
      priorities.push_back(random.Uniform());
    }
    const bool by_priority = i % 2 == 0;
    const Assignment made =
        by_priority ? ScheduleOnPlacement(costed, placement, priorities) : ScheduleByReadiness(costed, placement);
    ASSERT_EQ(made.placement, placement);
    ASSERT_EQ(WhyNotValid(graph, machine, {costed.groups, made.placement, made.sequence}), std::nullopt);
    const Timeline timeline = MakeTimeline(costed, made);
    for (int group = 0; group < costed.num_groups; ++group) {
      const auto g = static_cast<std::size_t>(group);
      double arrival = 0;
      for (const GroupEdge& edge : costed.Predecessors(group)) {
        const auto from = static_cast<std::size_t>(edge.group);
        arrival = std::max(arrival,
                           timeline.finish[from] + costed.TransferSeconds(edge.bytes, placement[from], placement[g]));
      }
      // From its arrival to its start the device is busy with others.
      double busy = 0;
      for (int other = 0; other < costed.num_groups; ++other) {
        const auto o = static_cast<std::size_t>(other);
        if (placement[o] != placement[g] || other == group) continue;
        busy += std::max(0.0, std::min(timeline.finish[o], timeline.start[g]) - std::max(timeline.start[o], arrival));
      }
      ASSERT_NEAR(busy, timeline.start[g] - arrival, 1e-9 * (1 + timeline.makespan)) << "problem " << i;
    }
  }
}

}  // namespace
}  // namespace millrace
