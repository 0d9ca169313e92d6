// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "millrace/formats/graph_json.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/random/random.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

constexpr int kRounds = 60;

// A double of any magnitude of which a graph may have many, drawn over its bits.
double AnyCost(Random& random) {
  while (true) {
    const double cost = std::abs(std::bit_cast<double>(random.Next()));
    if (cost < 1e295) return cost;
  }
}

// The random graph with what hand-picked examples forget: odd names, costs of any magnitude, every optional member.
GraphData Decorated(Random& random, const ComputationGraph& graph) {
  GraphData data = graph.data();
  data.name = "näme \"quoted\" \\ \n\t\x01 \xf0\x9f\x8c\x8a";
  for (Op& op : data.ops) {
    if (random.Below(2) == 0) op.flops = AnyCost(random);
    if (random.Below(2) == 0) op.weight_bytes = AnyCost(random);
    if (random.Below(3) == 0) op.bytes_accessed = AnyCost(random);
    if (random.Below(3) == 0) op.layer = static_cast<int>(random.Next());
    if (random.Below(4) == 0) op.name += "/ü";
  }
  for (Tensor& tensor : data.tensors) {
    if (random.Below(2) == 0) tensor.bytes = AnyCost(random);
  }
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    if (random.Below(4) != 0) continue;
    GroupTime group;
    group.ops = {op};
    if (random.Below(2) == 0) {
      group.seconds.everywhere = AnyCost(random);
    } else {
      group.seconds.by_kind = {{"a", AnyCost(random)}, {"b", 0.0}};
    }
    data.group_seconds.push_back(group);
  }
  return data;
}

ComputationGraph GraphOfOneOp(const std::function<void(Op&)>& change) {
  GraphData data;
  data.ops.resize(1);
  change(data.ops[0]);
  return ComputationGraph(std::move(data));
}

void ExpectSame(const ComputationGraph& a, const ComputationGraph& b) {
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.ops(), b.ops());
  EXPECT_EQ(a.tensors(), b.tensors());
  EXPECT_EQ(a.group_seconds(), b.group_seconds());
}

TEST(GraphJson, ReadsBackWhatItWroteToTheLastBit) {
  Random random(1);
  for (int round = 0; round < kRounds; ++round) {
    const ComputationGraph graph(Decorated(random, testing::RandomGraph(random)));
    const std::string text = GraphJson(graph);
    const ComputationGraph again = ParseGraphJson(text);
    ExpectSame(graph, again);
    EXPECT_EQ(GraphJson(again), text);
  }
}

TEST(GraphJson, WritesWholeNumbersPlainly) {
  const ComputationGraph graph = GraphOfOneOp([](Op& op) { op.flops = 3; });
  EXPECT_THAT(GraphJson(graph), ::testing::HasSubstr("\"flops\":3}"));
}

TEST(GraphJson, KeepsTheSignOfZero) {
  const ComputationGraph graph = GraphOfOneOp([](Op& op) { op.bytes_accessed = -0.0; });
  EXPECT_TRUE(std::signbit(*ParseGraphJson(GraphJson(graph)).op(0).bytes_accessed));
}

TEST(GraphJson, ReplacesBytesThatAreNotUtf8) {
  const ComputationGraph graph = GraphOfOneOp([](Op& op) { op.name = "a\xff"; });
  EXPECT_EQ(ParseGraphJson(GraphJson(graph)).op(0).name, "a\xef\xbf\xbd");
}

TEST(MachineJson, ReadsBackWhatItWroteToTheLastBit) {
  Random random(2);
  testing::RandomProblemOptions options;
  options.memory = true;
  for (int round = 0; round < kRounds; ++round) {
    Machine machine = testing::RandomMachine(random, options);
    machine.devices[0].flops_per_second = AnyCost(random) + 1e-300;
    if (random.Below(2) == 0) machine.sharing = Sharing::kFair;
    if (random.Below(2) == 0) machine.default_link = DefaultLink{AnyCost(random), kUnlimitedBandwidth};
    EXPECT_EQ(ParseMachineJson(MachineJson(machine)), machine);
  }
}

TEST(PlanJson, ReadsBackWhatItWroteToTheLastBit) {
  Random random(3);
  for (int round = 0; round < kRounds; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    PlanRecord record;
    record.machine = testing::RandomMachine(random);
    record.plan.groups = testing::RandomGroups(random, graph);
    for (std::size_t g = 0; g < record.plan.groups.size(); ++g) {
      record.plan.placement.push_back(static_cast<int>(random.Below(record.machine.devices.size())));
      record.plan.sequence.push_back(static_cast<int>(g));
    }
    record.graph_name = graph.name();
    record.graph_hash = "0123456789abcdef";
    record.method = "heft";
    record.seed = random.Next() | 1ULL << 63;
    record.proxy_seconds = AnyCost(random);
    if (random.Below(2) == 0) record.target_seconds = AnyCost(random);

    const PlanRecord again = ParsePlanJson(PlanJson(record));
    EXPECT_EQ(again.plan, record.plan);
    EXPECT_EQ(again.machine, record.machine);
    EXPECT_EQ(again.graph_name, record.graph_name);
    EXPECT_EQ(again.graph_hash, record.graph_hash);
    EXPECT_EQ(again.method, record.method);
    EXPECT_EQ(again.seed, record.seed);
    EXPECT_EQ(again.proxy_seconds, record.proxy_seconds);
    EXPECT_EQ(again.target_seconds, record.target_seconds);
  }
}

}  // namespace
}  // namespace millrace
