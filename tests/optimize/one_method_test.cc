// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/one_method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/simulation.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::Rounds;
using testing::ShippedPlanners;

OneMethodResult Planned(const ComputationGraph& graph, const Machine& machine, const std::string& method,
                        const OneMethodOptions& options, Proxy proxy = Proxy::kLinear) {
  return PlanByOneMethod(*MakeAnalyticCostModel(graph, machine, proxy), machine, *ShippedPlanners().Make(method),
                         options);
}

TEST(GivenFusionNamed, KnowsItsNamesAndNoOthers) {
  ASSERT_EQ(GivenFusionNames().size(), 3u);
  EXPECT_EQ(GivenFusionNamed("none"), GivenFusion::kNone);
  EXPECT_EQ(GivenFusionNamed("greedy"), GivenFusion::kGreedy);
  EXPECT_EQ(GivenFusionNamed("merged"), GivenFusion::kMerged);
  EXPECT_THAT([] { GivenFusionNamed("all"); },
              ::testing::ThrowsMessage<InvalidInput>(HasSubstr("none, greedy, merged")));
}

TEST(OneMethod, LeavesARecordThatIsValidAndTakesWhatItSays) {
  const Machine machine = *MachinePreset("homogeneous:3,latency=0,bandwidth=1e9");
  for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
    for (const std::string method : {"heft", "random", "gflownet", "go"}) {
      const ComputationGraph graph = MakeRandomGraph("layered", {.ops = 30, .ccr = 2, .seed = 4});
      const OneMethodResult result = Planned(graph, machine, method, {.seed = 7}, proxy);
      EXPECT_NO_THROW(VerifyRecord(graph, result.record));
      EXPECT_EQ(result.record.method, method);
      EXPECT_EQ(result.record.seed, 7u);
      EXPECT_EQ(result.record.proxy, proxy);
      const Simulation simulation = Simulate(graph, result.record);
      EXPECT_DOUBLE_EQ(simulation.timeline.makespan, result.record.proxy_seconds);
      EXPECT_DOUBLE_EQ(simulation.lower_bound, result.lower_bound);
      EXPECT_DOUBLE_EQ(simulation.proven_bound, result.proven_bound);
      EXPECT_LE(result.fusion_free_bound, result.lower_bound * (1 + 1e-9));
    }
  }
}

TEST(OneMethod, OffersAsManyPlansAsItIsAskedFor) {
  const ComputationGraph graph = MakeRandomGraph("er", {.ops = 20, .seed = 1});
  const Machine machine = *MachinePreset("homogeneous:2");
  const OneMethodResult few = Planned(graph, machine, "random", {.samples = 3});
  const OneMethodResult many = Planned(graph, machine, "random", {.samples = 300});
  EXPECT_EQ(few.samples, 3);
  EXPECT_EQ(many.samples, 300);
  EXPECT_LE(many.record.proxy_seconds, few.record.proxy_seconds);
  EXPECT_TRUE(many.mean_makespan && many.distance);
  EXPECT_GE(*many.mean_makespan, many.record.proxy_seconds);
}

TEST(OneMethod, RefusesLimitsThatTheMethodDoesNotLookAt) {
  const ComputationGraph graph = MakeRandomGraph("er", {.ops = 5, .seed = 1});
  const Machine machine = *MachinePreset("homogeneous:2");
  const auto complaint = [&](const OneMethodOptions& options) -> std::string {
    try {
      Planned(graph, machine, "heft", options);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint({.samples = 3}), HasSubstr("heft takes no samples"));
  EXPECT_THAT(complaint({.iterations = 3}), HasSubstr("heft takes no iterations"));
  EXPECT_EQ(complaint({.time_limit = 3}), "");
}

// A fast device that has room for some of the weights alone, and a slow one that has room for all.
Machine FastAndRoomy(double bytes) {
  Machine machine;
  machine.devices = {{"roomy", "cpu", {0}, 1e9, 1e9, std::nullopt, 0}, {"fast", "npu", {1}, 1e10, 1e9, bytes, 0}};
  machine.default_link = DefaultLink{1e-5, 1e9};
  return machine;
}

TEST(OneMethod, SearchesAreNoSlowerThanListSchedulersWhereMemoryIsShort) {
  int pressed = 0, faster = 0;
  for (int round = 0; round < Rounds(12); ++round) {
    const auto seed = static_cast<std::uint64_t>(round);
    Random random(seed);
    GraphData data;
    for (int op = 0; op < 40; ++op) {
      Op one;
      one.name = "op" + std::to_string(op);
      one.type = "MatMul";
      one.weight_bytes = random.Uniform(0.0, 2e6);
      one.flops = one.weight_bytes * random.Uniform(1.0, 50.0);
      data.ops.push_back(one);
      if (op == 0) continue;
      const int from = std::max(0, op - 1 - static_cast<int>(random.Uniform(0.0, 3.0)));
      data.tensors.push_back({"t" + std::to_string(op), from, {op}, random.Uniform(1e4, 2e6), false});
    }
    const ComputationGraph graph(std::move(data));
    const Machine machine = FastAndRoomy(seed % 3 == 0 ? 1e9 : 1e7);
    const double heft = Planned(graph, machine, "heft", {}).record.proxy_seconds;
    pressed += heft > Planned(graph, FastAndRoomy(1e9), "heft", {}).record.proxy_seconds ? 1 : 0;
    for (const std::string method : {"anneal", "brkga", "gflownet+search", "exact"}) {
      OneMethodOptions options;
      options.iterations = 500;
      const OneMethodResult result = Planned(graph, machine, method, options);
      EXPECT_LE(result.record.proxy_seconds, heft) << method << ' ' << seed;
      EXPECT_TRUE(Simulate(graph, result.record).feasible);
      EXPECT_LE(result.proven_bound, result.record.proxy_seconds * (1 + 1e-9));
      faster += result.record.proxy_seconds < heft ? 1 : 0;
    }
  }
  EXPECT_EQ(pressed, Rounds(8));
  EXPECT_GT(faster, Rounds(20));
}

TEST(OneMethod, FailsWhereNothingFitsInMemory) {
  GraphData data;
  data.ops.resize(1);
  data.ops[0].name = "large";
  data.ops[0].weight_bytes = 1e12;
  const ComputationGraph graph(data);
  EXPECT_THROW(Planned(graph, *MachinePreset("p100x2"), "heft", {}), WorkFailed);
}

}  // namespace
}  // namespace millrace
