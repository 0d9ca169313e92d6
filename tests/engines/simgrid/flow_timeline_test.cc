// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/simgrid/flow_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

using testing::CostedProblem;
using testing::RandomProblemOptions;

constexpr double kNear = 1e-7;  // of a makespan: SimGrid counts with absolute precisions

class SimGrid : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasSimGrid()) GTEST_SKIP() << "built without SimGrid";
  }
};

Op OpOf(double seconds) {
  Op op;
  op.seconds.everywhere = seconds;
  return op;
}

Tensor TensorOf(OpId producer, std::vector<OpId> consumers, double bytes) {
  Tensor tensor;
  tensor.producer = producer;
  tensor.consumers = std::move(consumers);
  tensor.bytes = bytes;
  return tensor;
}

Machine Devices(int count) {
  Machine machine;
  machine.name = "test";
  for (int d = 0; d < count; ++d) {
    Device device;
    device.name = "d" + std::to_string(d);
    device.kind = "cpu";
    device.units = {d};
    device.flops_per_second = device.memory_bandwidth = 1;
    machine.devices.push_back(device);
  }
  return machine;
}

struct Example {
  GraphData graph;
  Machine machine;
  Assignment assignment;

  Timeline Run() const {
    const ComputationGraph checked(graph);
    const auto model = MakeAnalyticCostModel(checked, machine);
    return FlowTimeline(MakeCostedGraph(*model, SingleOpGroups(checked)), assignment);
  }
};

// Two producers of one second on device 0 and 1, each read by an op of its own on device 2 and 3; the first sends 100
// bytes, the second 200.
Example TwoTransfers() {
  Example example;
  example.graph.ops = {OpOf(1), OpOf(1), OpOf(1), OpOf(1)};
  example.graph.tensors = {TensorOf(0, {2}, 100), TensorOf(1, {3}, 200)};
  example.machine = Devices(4);
  example.assignment = {{0, 1, 2, 3}, {0, 1, 2, 3}};
  return example;
}

TEST_F(SimGrid, TransfersOnOneChannelShareItsBandwidth) {
  Example example = TwoTransfers();
  example.machine.links = {{0, 2, 0, 100, 7}, {1, 3, 0, 100, 7}};
  const Timeline timeline = example.Run();
  // Half the bandwidth each until the first is over at 3, then all of it for the other's last 100 bytes.
  EXPECT_NEAR(timeline.start[2], 3, kNear);
  EXPECT_NEAR(timeline.start[3], 4, kNear);
  EXPECT_NEAR(timeline.makespan, 5, kNear);
}

TEST_F(SimGrid, TransfersIntoOneEntryChannelShareItsBandwidth) {
  Example example = TwoTransfers();
  example.machine.links = {{0, 2, 0, 100, {}, 7}, {1, 3, 0, 100, {}, 7}};
  const Timeline timeline = example.Run();
  EXPECT_NEAR(timeline.start[2], 3, kNear);
  EXPECT_NEAR(timeline.start[3], 4, kNear);
}

TEST_F(SimGrid, TransfersOnChannelsOfTheirOwnDoNotMeet) {
  Example example = TwoTransfers();
  example.machine.links = {{0, 2, 0.5, 100, {}}, {1, 3, 0.25, 100, {}}};
  const Timeline timeline = example.Run();
  EXPECT_NEAR(timeline.start[2], 2.5, kNear);
  EXPECT_NEAR(timeline.start[3], 3.25, kNear);
}

TEST_F(SimGrid, ATransferIsNoFasterThanItsOwnLinkOfAChannel) {
  Example example = TwoTransfers();
  example.machine.links = {{0, 2, 0, 20, 7}, {1, 3, 0, 100, 7}};
  const Timeline timeline = example.Run();
  // 20 bytes a second for the first, what it leaves for the second.
  EXPECT_NEAR(timeline.start[2], 6, kNear);
  EXPECT_NEAR(timeline.start[3], 3.5, kNear);
}

TEST_F(SimGrid, ControlDependenciesAndUnlimitedBandwidthPayLatencyAlone) {
  Example example = TwoTransfers();
  example.graph.tensors[0].bytes = 0;
  example.machine.links = {{0, 2, 0.5, 100, 7}, {1, 3, 0.75, kUnlimitedBandwidth, 7}};
  const Timeline timeline = example.Run();
  EXPECT_NEAR(timeline.start[2], 1.5, kNear);
  EXPECT_NEAR(timeline.start[3], 1.75, kNear);
}

TEST_F(SimGrid, SmallTransfersBesideLargeOnesKeepTheirTime) {
  Example example = TwoTransfers();
  example.graph.tensors[0].bytes = 0.5;
  example.graph.tensors[1].bytes = 1e9;
  example.machine.links = {{0, 2, 0, 1, {}}, {1, 3, 0, 1e9, {}}};
  const Timeline timeline = example.Run();
  EXPECT_NEAR(timeline.start[2], 1.5, 1e-5);
  EXPECT_NEAR(timeline.start[3], 2, 1e-5);
}

// Without transfers nothing is left but the plan's order.
TEST_F(SimGrid, IsTheLinearTimelineWhereTransfersAreFree) {
  Random random(41);
  RandomProblemOptions options;
  options.links = false;
  for (int round = 0; round < 25; ++round) {
    const CostedProblem problem(random, options);
    const Assignment assignment = problem.Start(random);
    const Timeline linear = MakeTimeline(problem.costed, assignment);
    const Timeline timeline = FlowTimeline(problem.costed, assignment);
    for (std::size_t group = 0; group < linear.start.size(); ++group) {
      EXPECT_NEAR(timeline.start[group], linear.start[group], kNear * linear.makespan);
      EXPECT_NEAR(timeline.finish[group], linear.finish[group], kNear * linear.makespan);
    }
  }
}

// One op after the other: there is never a second transfer.
TEST_F(SimGrid, IsTheLinearTimelineOfChains) {
  Random random(42);
  for (int round = 0; round < 25; ++round) {
    Example example;
    example.machine = testing::RandomMachine(random);
    const int ops = 2 + static_cast<int>(random.Below(12));
    for (OpId op = 0; op < ops; ++op) {
      example.graph.ops.push_back(OpOf(random.Uniform()));
      if (op > 0) example.graph.tensors.push_back(TensorOf(op - 1, {op}, 1e3 * random.Uniform()));
      example.assignment.placement.push_back(static_cast<int>(random.Below(example.machine.devices.size())));
      example.assignment.sequence.push_back(op);
    }
    const ComputationGraph graph(example.graph);
    const auto model = MakeAnalyticCostModel(graph, example.machine);
    const double linear = Simulator(MakeCostedGraph(*model, SingleOpGroups(graph))).Makespan(example.assignment);
    EXPECT_NEAR(example.Run().makespan, linear, kNear * linear);
  }
}

TEST_F(SimGrid, KeepsThePlansOrderAndGivesEveryTransferItsTime) {
  Random random(43);
  for (int round = 0; round < 25; ++round) {
    const CostedProblem problem(random);
    const CostedGraph& costed = problem.costed;
    const Assignment assignment = problem.Start(random);
    const Timeline timeline = FlowTimeline(costed, assignment);
    const double slack = kNear * timeline.makespan;
    std::vector<double> unit_free(static_cast<std::size_t>(costed.topology.num_units), 0.0);
    for (const int group : assignment.sequence) {
      const auto g = static_cast<std::size_t>(group);
      const int device = assignment.placement[g];
      EXPECT_NEAR(timeline.finish[g] - timeline.start[g], costed.Seconds(group, device), slack);
      for (const GroupEdge& edge : costed.Predecessors(group)) {
        // To the first reader's device, whose link may be another than the one to this device.
        const int from = assignment.placement[static_cast<std::size_t>(edge.group)];
        double least = std::numeric_limits<double>::infinity();
        for (int to = 0; to < costed.num_devices; ++to) {
          if (costed.topology.memory_of[static_cast<std::size_t>(to)] ==
              costed.topology.memory_of[static_cast<std::size_t>(device)])
            least = std::min(least, costed.TransferSeconds(edge.bytes, from, to));
        }
        EXPECT_GE(timeline.start[g] + slack, timeline.finish[static_cast<std::size_t>(edge.group)] + least);
      }
      for (auto u = static_cast<std::size_t>(costed.topology.device_offsets[static_cast<std::size_t>(device)]);
           u < static_cast<std::size_t>(costed.topology.device_offsets[static_cast<std::size_t>(device) + 1]); ++u) {
        double& before = unit_free[static_cast<std::size_t>(costed.topology.device_units[u])];
        EXPECT_GE(timeline.start[g] + slack, before);
        before = timeline.finish[g];
      }
    }
  }
}

TEST_F(SimGrid, TellsTheSameTimelineEveryTime) {
  Random random(44);
  const CostedProblem problem(random);
  const Assignment assignment = problem.Start(random);
  const Timeline first = FlowTimeline(problem.costed, assignment);
  for (int run = 0; run < 3; ++run) {
    const Timeline again = FlowTimeline(problem.costed, assignment);
    EXPECT_EQ(again.start, first.start);
    EXPECT_EQ(again.finish, first.finish);
  }
}

TEST(FlowProblems, StateNoPairTwiceAndSendATensorToAMemoryOnce) {
  Random random(45);
  for (int round = 0; round < 50; ++round) {
    const CostedProblem problem(random);
    const Assignment assignment = problem.Start(random);
    const FlowProblem flow = FlowProblemOf(problem.costed, assignment, 1);
    EXPECT_EQ(std::set(flow.before.begin(), flow.before.end()).size(), flow.before.size());
    std::size_t most = 0;
    for (const GroupTensor& tensor : problem.costed.tensors) {
      std::set<std::int32_t> memories;
      for (const std::int32_t reader : problem.costed.Readers(tensor))
        memories.insert(
            problem.costed.topology
                .memory_of[static_cast<std::size_t>(assignment.placement[static_cast<std::size_t>(reader)])]);
      if (tensor.producer >= 0) most += memories.size();
    }
    EXPECT_LE(flow.activities.size(), static_cast<std::size_t>(problem.costed.num_groups) + most);
  }
}

}  // namespace
}  // namespace millrace
