// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

ComputationGraph Changed(const ComputationGraph& graph, const std::function<void(GraphData&)>& change) {
  GraphData data = graph.data();
  change(data);
  return ComputationGraph(std::move(data));
}

TEST(GraphHash, IgnoresNamesAndCosts) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    EXPECT_THAT(GraphHash(graph), ::testing::MatchesRegex("[0-9a-f]{16}"));
    EXPECT_EQ(GraphHash(graph), GraphHash(Changed(graph, [](GraphData& data) {
                data.name = "renamed";
                data.group_seconds.clear();
                for (Op& op : data.ops) {
                  op.name += "'";
                  op.flops += 1;
                  op.weight_bytes *= 2;
                  op.seconds = {3.0, {}};
                  op.bytes_accessed = 9;
                  op.layer = 1;
                  if (!op.colocate.empty()) op.colocate = "renamed " + op.colocate;
                }
                for (Tensor& tensor : data.tensors) {
                  tensor.name += "'";
                  if (tensor.bytes == 0) tensor.bytes = -0.0;
                }
              })));
  }
}

TEST(GraphHash, ChangesWithWhatAPlanDependsOn) {
  GraphData data;
  data.ops.resize(4);
  data.ops[0].colocate = data.ops[1].colocate = "a";
  data.tensors = {{"", 0, {1, 2}, 4, false}, {"", 1, {3}, 4, false}, {"", -1, {0}, 8, false}};
  const ComputationGraph graph(std::move(data));
  const std::vector<std::function<void(GraphData&)>> changes = {
      [](GraphData& d) { d.ops.emplace_back(); },
      [](GraphData& d) { d.ops[2].type = "Relu"; },
      [](GraphData& d) { d.ops[1].colocate.clear(); },
      [](GraphData& d) { d.ops[2].colocate = "a"; },
      [](GraphData& d) { d.ops[1].colocate = "b"; },
      [](GraphData& d) { d.tensors.emplace_back(); },
      [](GraphData& d) { d.tensors[0].consumers.pop_back(); },
      [](GraphData& d) { d.tensors[0].consumers.push_back(3); },
      [](GraphData& d) { d.tensors[1].producer = 2; },
      [](GraphData& d) { d.tensors[1].producer = -1; },
      [](GraphData& d) { d.tensors[1].bytes = 5; },
      [](GraphData& d) { d.tensors[1].output = true; },
      [](GraphData& d) { std::swap(d.tensors[0], d.tensors[1]); },
  };
  std::set<std::string> hashes{GraphHash(graph)};
  for (const auto& change : changes) hashes.insert(GraphHash(Changed(graph, change)));
  EXPECT_EQ(hashes.size(), changes.size() + 1);
}

TEST(MachineHash, IgnoresNamesAndNothingElse) {
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0}, {"1", "gpu", {1}, 1, 1, 4.0, 0}};
  machine.links = {{0, 1, 1, 1, std::nullopt}};
  Machine renamed = machine;
  renamed.name = "x";
  renamed.devices[0].name = "y";
  EXPECT_EQ(MachineHash(machine), MachineHash(renamed));
  const std::vector<std::function<void(Machine&)>> changes = {
      [](Machine& m) { m.devices[0].kind = "gpu"; },
      [](Machine& m) { m.devices[0].units = {2}; },
      [](Machine& m) {
        m.devices[0].units = {0, 1};
      },
      [](Machine& m) { m.devices[0].flops_per_second = 2; },
      [](Machine& m) { m.devices[0].memory_bandwidth = 2; },
      [](Machine& m) { m.devices[0].memory_bytes = 0; },
      [](Machine& m) { m.devices[1].memory_bytes.reset(); },
      [](Machine& m) { m.devices[0].launch_seconds = 1; },
      [](Machine& m) { m.devices.pop_back(), m.links.clear(); },
      [](Machine& m) { m.links.clear(); },
      [](Machine& m) { std::swap(m.links[0].from, m.links[0].to); },
      [](Machine& m) { m.links[0].latency_seconds = 2; },
      [](Machine& m) { m.links[0].bandwidth = 2; },
      [](Machine& m) { m.links[0].channel = 0; },
      [](Machine& m) { m.links[0].channel = -1; },
      [](Machine& m) { m.links[0].entry_channel = 0; },
      [](Machine& m) { m.links[0].entry_channel = 1; },
      [](Machine& m) { m.sharing = Sharing::kFair; },
      [](Machine& m) {
        m.default_link = DefaultLink{0, 1};
      },
      [](Machine& m) {
        m.default_link = DefaultLink{1, 1};
      },
  };
  std::set<std::string> hashes{MachineHash(machine)};
  for (const auto& change : changes) {
    Machine other = machine;
    change(other);
    hashes.insert(MachineHash(other));
  }
  EXPECT_EQ(hashes.size(), changes.size() + 1);
}

TEST(PlanHash, TellsDecisionsApart) {
  const std::set<std::string> hashes{PlanHash({{{0}, {1}}, {0, 0}, {0, 1}}), PlanHash({{{0, 1}}, {0}, {0}}),
                                     PlanHash({{{1}, {0}}, {0, 0}, {0, 1}}), PlanHash({{{0}, {1}}, {0, 1}, {0, 1}}),
                                     PlanHash({{{0}, {1}}, {0, 0}, {1, 0}}), PlanHash({}),
                                     PlanHash({{{1, 0}}, {0}, {0}})};
  EXPECT_EQ(hashes.size(), 7U);
}

}  // namespace
}  // namespace millrace
