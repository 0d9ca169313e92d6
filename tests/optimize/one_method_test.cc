// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/one_method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/simulation.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/shipped_planners.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::ShippedPlanners;

OneMethodResult Planned(const ComputationGraph& graph, const Machine& machine, const std::string& method,
                        const OneMethodOptions& options, Proxy proxy = Proxy::kLinear) {
  return PlanByOneMethod(*MakeAnalyticCostModel(graph, machine, proxy), machine, *ShippedPlanners().Make(method),
                         options);
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
