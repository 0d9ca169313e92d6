// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/baselines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/problem_builder.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using testing::ProblemBuilder;
using testing::ShippedPlanners;

constexpr double kNowhere = std::numeric_limits<double>::infinity();

std::vector<Baseline> BaselinesOf(const ComputationGraph& graph, const Machine& machine) {
  const auto model = MakeAnalyticCostModel(graph, machine);
  PoolOptions options;
  options.methods = {"heft"};
  return MakeBaselines(MakePool(*model, ShippedPlanners(), FusionOptions(*model), options, {}), machine);
}

std::vector<std::string> NamesOf(const std::vector<Baseline>& baselines) {
  std::vector<std::string> names;
  for (const Baseline& baseline : baselines) names.push_back(baseline.name);
  return names;
}

// Four cores, and all of them as one device.
Machine FourCores() {
  Machine machine;
  for (int core = 0; core < 5; ++core) {
    Device device;
    device.name = core < 4 ? "core" + std::to_string(core) : "all";
    device.kind = core < 4 ? "core" : "gang";
    device.units = core < 4 ? std::vector<int>{core} : std::vector<int>{0, 1, 2, 3};
    device.flops_per_second = device.memory_bandwidth = core < 4 ? 1e9 : 3e9;
    machine.devices.push_back(device);
  }
  return machine;
}

// What runs on the fastest device stays there; the two that cannot, and share a device, go where both together are
// quickest.
TEST(Baselines, OfOneDeviceLeaveItTogetherWhereOpsShareADevice) {
  ProblemBuilder problem(3);
  problem.AddOp({1, 50, 50});
  problem.AddOp({kNowhere, 1, 3}, "pair");
  problem.AddOp({kNowhere, 9, 1}, "pair");
  const ComputationGraph graph{problem.data};
  const std::vector<Baseline> baselines = BaselinesOf(graph, problem.machine);
  ASSERT_EQ(baselines.front().name, "sequential");
  EXPECT_THAT(baselines.front().candidate.plan.placement, ElementsAre(0, 2, 2));
  EXPECT_EQ(WhyNotValid(graph, problem.machine, baselines.front().candidate.plan), std::nullopt);
}

TEST(Baselines, OfOneDeviceTakeTheOneOfTheLeastTotal) {
  ProblemBuilder problem(3);
  problem.AddOp({4, 3, 9});
  problem.AddOp({1, 3, 9});
  problem.AddOp({4, 2, 1});
  const std::vector<Baseline> baselines = BaselinesOf(ComputationGraph{problem.data}, problem.machine);
  EXPECT_THAT(baselines.front().candidate.plan.placement, ElementsAre(1, 1, 1));
}

TEST(Baselines, HoldAllCoresOnlyWhereOneDeviceHasMoreUnitsAndLayersOnlyWhereThereAreSome) {
  RandomGraphOptions options;
  options.ops = 20;
  const ComputationGraph plain = MakeRandomGraph("er", options);
  EXPECT_THAT(NamesOf(BaselinesOf(plain, *MachinePreset("homogeneous:3"))), ElementsAre("sequential", "heft"));
  const Machine cores = FourCores();
  EXPECT_THAT(NamesOf(BaselinesOf(plain, cores)), ElementsAre("sequential", "all-cores", "heft"));
  for (const Baseline& baseline : BaselinesOf(plain, cores)) {
    if (baseline.name == "heft") continue;
    const std::size_t units = baseline.name == "all-cores" ? 4 : 1;
    for (const int device : baseline.candidate.plan.placement)
      EXPECT_EQ(cores.devices[static_cast<std::size_t>(device)].units.size(), units) << baseline.name;
  }
  GraphData layered = plain.data();
  for (std::size_t op = 0; op < layered.ops.size(); ++op) layered.ops[op].layer = static_cast<int>(op / 5);
  EXPECT_THAT(NamesOf(BaselinesOf(ComputationGraph{layered}, *MachinePreset("homogeneous:3"))),
              ElementsAre("sequential", "heft", "expert"));
  EXPECT_THAT(NamesOf(BaselinesOf(ComputationGraph{layered}, cores)), ElementsAre("sequential", "all-cores", "heft"))
      << "one memory: nobody places layers there";
}

TEST(Baselines, AreValidPlans) {
  Random random(5);
  int some = 0;
  for (int i = 0; i < 60; ++i) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    std::vector<Baseline> baselines;
    try {
      baselines = BaselinesOf(graph, machine);
    } catch (const std::exception&) {
      continue;  // what must share a device can run nowhere
    }
    for (const Baseline& baseline : baselines) {
      ++some;
      EXPECT_EQ(WhyNotValid(graph, machine, baseline.candidate.plan), std::nullopt) << i << ' ' << baseline.name;
    }
  }
  EXPECT_GT(some, 60);
}

}  // namespace
}  // namespace millrace
