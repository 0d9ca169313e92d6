// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/costed_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CostedGraph, HoldsTheContractedGraph) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, testing::RandomGroups(random, graph));
    std::vector<int> group_of(static_cast<std::size_t>(graph.num_ops()));
    for (int g = 0; g < costed.num_groups; ++g) {
      for (const OpId op : costed.groups[static_cast<std::size_t>(g)]) group_of[static_cast<std::size_t>(op)] = g;
    }
    std::map<std::pair<int, int>, double> edges;
    for (const Tensor& tensor : graph.tensors()) {
      for (const OpId consumer : tensor.consumers) {
        if (tensor.producer < 0) continue;
        const int from = group_of[static_cast<std::size_t>(tensor.producer)];
        const int to = group_of[static_cast<std::size_t>(consumer)];
        if (from == to) continue;
        const auto [edge, added] = edges.emplace(std::pair(from, to), tensor.bytes);
        edge->second = std::max(edge->second, tensor.bytes);
      }
    }
    std::map<std::pair<int, int>, double> forward, backward;
    for (int g = 0; g < costed.num_groups; ++g) {
      int last = -1;
      for (const GroupEdge& edge : costed.Predecessors(g)) {
        ASSERT_GT(edge.group, last);
        last = edge.group;
        backward[{edge.group, g}] = edge.bytes;
      }
      last = -1;
      for (const GroupEdge& edge : costed.Successors(g)) {
        ASSERT_GT(edge.group, last);
        last = edge.group;
        forward[{g, edge.group}] = edge.bytes;
      }
    }
    ASSERT_EQ(forward, edges);
    ASSERT_EQ(backward, edges);
    std::vector<int> place(static_cast<std::size_t>(costed.num_groups));
    ASSERT_EQ(costed.topological_order.size(), place.size());
    for (std::size_t i = 0; i < place.size(); ++i)
      place[static_cast<std::size_t>(costed.topological_order[i])] = static_cast<int>(i);
    for (const auto& [edge, bytes] : edges)
      ASSERT_LT(place[static_cast<std::size_t>(edge.first)], place[static_cast<std::size_t>(edge.second)]);
    double weights = 0, group_weights = 0;
    for (const Op& op : graph.ops()) weights += op.weight_bytes;
    for (const double each : costed.weight_bytes) group_weights += each;
    ASSERT_NEAR(weights, group_weights, 1e-9);
  }
}

TEST(CostedGraph, TiesColocatedGroupsAndClosesDevicesToAllOfThem) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, testing::RandomGroups(random, graph));
    const auto tied = [&](int a, int b) {
      const int colocation = costed.colocation[static_cast<std::size_t>(a)];
      return a == b || (colocation >= 0 && colocation == costed.colocation[static_cast<std::size_t>(b)]);
    };
    for (int a = 0; a < costed.num_groups; ++a) {
      for (int b = 0; b < costed.num_groups; ++b) {
        for (const OpId i : costed.groups[static_cast<std::size_t>(a)]) {
          for (const OpId j : costed.groups[static_cast<std::size_t>(b)]) {
            if (!graph.op(i).colocate.empty() && graph.op(i).colocate == graph.op(j).colocate) {
              ASSERT_TRUE(tied(a, b));
            }
          }
        }
      }
      for (int device = 0; device < costed.num_devices; ++device) {
        bool open = true;
        for (int b = 0; b < costed.num_groups; ++b)
          open = open && (!tied(a, b) ||
                          std::isfinite(model->GroupSeconds(costed.groups[static_cast<std::size_t>(b)], device)));
        if (open)
          ASSERT_EQ(costed.Seconds(a, device), model->GroupSeconds(costed.groups[static_cast<std::size_t>(a)], device));
        else
          ASSERT_TRUE(std::isinf(costed.Seconds(a, device)));
      }
    }
  }
}

TEST(CostedGraph, RefusesGroupsThatDependOnEachOther) {
  // 0 -> 1 and 2 -> 3 as groups {0, 3} and {2, 1}: each waits for the other.
  GraphData data;
  data.ops.resize(4);
  data.tensors = {{"", 0, {1}, 1, false}, {"", 2, {3}, 1, false}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0}};
  const auto model = MakeAnalyticCostModel(graph, machine);
  EXPECT_THROW(MakeCostedGraph(*model, {{0, 3}, {2, 1}}), InvalidInput);
  EXPECT_NO_THROW(MakeCostedGraph(*model, {{0, 1}, {2, 3}}));
}

TEST(CostedGraph, SaysWhichOpCanRunNowhere) {
  GraphData data;
  data.ops.resize(3);
  data.ops[1].seconds.by_kind = {{"cpu", 1.0}};
  data.ops[2].seconds.by_kind = {{"gpu", 1.0}};
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0}};
  const auto failure = [&machine](const GraphData& of) -> std::string {
    const ComputationGraph graph(of);
    try {
      MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    } catch (const WorkFailed& failed) {
      return failed.what();
    }
    return "";
  };
  EXPECT_THAT(failure(data), HasSubstr("op 2"));
  machine.devices.push_back({"1", "gpu", {1}, 1, 1, std::nullopt, 0});
  EXPECT_EQ(failure(data), "");
  data.ops[1].colocate = data.ops[2].colocate = "together";
  EXPECT_THAT(failure(data), AllOf(HasSubstr("op 1"), HasSubstr("share a device")));
}

// Two ops in a row on two devices.
std::string ComplaintOfPricing(const std::function<void(GraphData&, Machine&)>& spoil) {
  GraphData data;
  data.ops.resize(2);
  data.ops[0].flops = data.ops[1].flops = 1e9;
  data.tensors = {{"t", 0, {1}, 8, false}};
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d", "cpu", {d}, 1e9, 1e9, std::nullopt, 0});
  machine.default_link = DefaultLink{0, 1e9};
  spoil(data, machine);
  const ComputationGraph graph(std::move(data));
  try {
    MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  } catch (const InvalidInput& complaint) {
    return complaint.what();
  }
  return "no complaint";
}

TEST(CostedGraph, RefusesCostsThatNoTimelineCanAddUp) {
  const std::string all = "could take more than 1e300 s together";
  EXPECT_EQ(ComplaintOfPricing([](GraphData&, Machine&) {}), "no complaint");
  for (const double tiny : {1e-300, std::numeric_limits<double>::denorm_min()}) {
    EXPECT_THAT(ComplaintOfPricing([tiny](GraphData&, Machine& m) { m.devices[1].flops_per_second = tiny; }),
                HasSubstr(all));
    EXPECT_THAT(ComplaintOfPricing([tiny](GraphData&, Machine& m) { m.devices[0].memory_bandwidth = tiny; }),
                HasSubstr(all));
    EXPECT_THAT(ComplaintOfPricing([tiny](GraphData&, Machine& m) { m.default_link->bandwidth = tiny; }),
                HasSubstr(all));
  }
  EXPECT_THAT(ComplaintOfPricing([](GraphData&, Machine& m) { m.devices[1].launch_seconds = 1e308; }), HasSubstr(all));
  EXPECT_THAT(ComplaintOfPricing([](GraphData&, Machine& m) { m.default_link->latency_seconds = 1e308; }),
              HasSubstr(all));
  EXPECT_THAT(ComplaintOfPricing([](GraphData& data, Machine&) {
                data.group_seconds = {{{0}, {1e308, {}}}, {{1}, {1e308, {}}}};
              }),
              HasSubstr(all));
  // A link over which nothing has to go takes no time however slow it is.
  EXPECT_EQ(ComplaintOfPricing([](GraphData& data, Machine& m) {
              data.tensors[0].bytes = 0;
              m.default_link->bandwidth = std::numeric_limits<double>::denorm_min();
            }),
            "no complaint");
}

TEST(CostedGraph, LimitsMemoryOnlyWhereSomeMemoryIsTooSmallForAllThereIs) {
  GraphData data;
  data.ops.resize(2);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.ops[1].weight_bytes = 7;
  data.tensors = {{"a", 0, {1}, 10, false}, {"b", 1, {}, 20, true}};
  const ComputationGraph graph(std::move(data));
  for (const auto& [small, limited] : {std::pair(38.0, false), std::pair(36.0, true)}) {
    Machine machine;
    machine.devices.push_back({"roomy", "cpu", {0}, 1, 1, {}, 0});
    machine.devices.push_back({"small", "cpu", {1}, 1, 1, small, 0});
    const auto model = MakeAnalyticCostModel(graph, machine);
    EXPECT_EQ(MakeCostedGraph(*model, SingleOpGroups(graph)).limited_memory, limited) << small;
    EXPECT_EQ(MakeCostedGraph(*model, {{0, 1}}).limited_memory, false) << small;
  }
}

TEST(CostedGraph, OfNothingIsEmpty) {
  const ComputationGraph graph(GraphData{});
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0}};
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), {});
  EXPECT_EQ(costed.num_groups, 0);
  EXPECT_TRUE(costed.topological_order.empty());
}

}  // namespace
}  // namespace millrace
