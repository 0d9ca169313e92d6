// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
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

TEST(PlaceByLayers, LeavesNoDeviceIdleBecauseAnotherCannotTakeLess) {
  const auto placed = [](const std::vector<double>& seconds, int devices) {
    GraphData data;
    for (const double s : seconds) data.ops.push_back(MakeOp(s, static_cast<int>(data.ops.size())));
    return PlaceByLayers(Make(data, *MachinePreset("homogeneous:" + std::to_string(devices))).costed);
  };
  EXPECT_THAT(placed({0.27, 0.2, 0.17, 0.39}, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(placed({10, 1, 1}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(placed({1, 1, 5}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(placed({2, 2, 2, 2, 6}, 3), ElementsAre(0, 0, 1, 1, 2));
}

// By trying all blocks of consecutive layers.
TEST(PlaceByLayers, HasAsShortALongestBlockAsAnyOtherAndUsesEveryDeviceItCan) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const int layers = 1 + static_cast<int>(random.Below(7)), devices = 1 + static_cast<int>(random.Below(4));
    GraphData data;
    for (int layer = 0; layer < layers; ++layer) data.ops.push_back(MakeOp(1 + random.Uniform() * 9, layer));
    const std::vector<int> placement =
        PlaceByLayers(Make(data, *MachinePreset("homogeneous:" + std::to_string(devices))).costed);
    const auto longest = [&](const std::vector<int>& blocks) {
      std::vector<double> taken(static_cast<std::size_t>(layers), 0.0);
      for (std::size_t layer = 0; layer < blocks.size(); ++layer)
        taken[static_cast<std::size_t>(blocks[layer])] += *data.ops[layer].seconds.everywhere;
      return *std::max_element(taken.begin(), taken.end());
    };
    double least = 1e9;
    for (int cuts = 0; cuts < 1 << (layers - 1); ++cuts) {
      std::vector<int> blocks = {0};
      for (int layer = 1; layer < layers; ++layer) blocks.push_back(blocks.back() + (cuts >> (layer - 1) & 1));
      if (blocks.back() < devices) least = std::min(least, longest(blocks));
    }
    EXPECT_LE(longest(placement), least * (1 + 1e-8));
    EXPECT_EQ(std::set<int>(placement.begin(), placement.end()).size(),
              static_cast<std::size_t>(std::min(layers, devices)));
  }
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

TEST(PlaceByPartition, IsTheSameWhileOthersAskOnOtherThreads) {
  Random random(11);
  GraphData data;
  for (int i = 0; i < 600; ++i) {
    data.ops.push_back(MakeOp(random.Uniform()));
    for (int reads = 0; reads < 3 && i > 0; ++reads)
      data.tensors.push_back(MakeTensor(static_cast<OpId>(random.Below(static_cast<std::uint64_t>(i))), {i}, 1e6));
  }
  const Problem problem = Make(data, *MachinePreset("homogeneous:4,latency=1e-6,bandwidth=1e6"));
  const std::vector<int> alone = PlaceByPartition(problem.costed);
  std::atomic<int> other{0};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) other += PlaceByPartition(problem.costed) != alone ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(other, 0);
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

}  // namespace
}  // namespace millrace
