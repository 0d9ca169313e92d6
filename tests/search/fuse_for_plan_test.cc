// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/fuse_for_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/steering.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_steering.h"
#include "tests/reference/reading_graph.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

const std::function<bool()> kNeverStop = [] { return false; };

Plan PlanOf(const FusedPlan& fused) {
  return {fused.costed->groups, fused.assignment.placement, fused.assignment.sequence};
}

// Without groups: as RandomPlan has it, every op alone.
Assignment RandomAssignment(Random& random, const ComputationGraph& graph, const Machine& machine) {
  const Plan plan = testing::RandomPlan(random, graph, machine, SingleOpGroups(graph));
  return {plan.placement, plan.sequence};
}

TEST(SpreadOverOps, RunsEveryOpWhereItsGroupRunsAndWhenItsTurnComes) {
  Random random(21);
  for (int round = 0; round < 100; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), plan.groups);
    const OpPlan ops = SpreadOverOps(costed, {plan.placement, plan.sequence});
    int turn = 0;
    for (const int group : plan.sequence) {
      for (const OpId op : plan.groups[static_cast<std::size_t>(group)]) {
        EXPECT_EQ(ops.turn[static_cast<std::size_t>(op)], turn++);
        EXPECT_EQ(ops.device[static_cast<std::size_t>(op)], plan.placement[static_cast<std::size_t>(group)]);
      }
    }
  }
}

TEST(FuseForPlan, MakesValidPlansThatTakeWhatTheSlowSimulatorSaysAndNoLongerThanWithoutAnyGroup) {
  Random random(22);
  int fused_some = 0, faster = 0;
  for (int round = 0; round < 500; ++round) {
    testing::RandomProblemOptions options;
    options.memory = round % 4 == 0;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph apart = MakeCostedGraph(*model, SingleOpGroups(graph));
    const Assignment start = RandomAssignment(random, graph, machine);
    const OpPlan ops = SpreadOverOps(apart, start);
    const FusedPlan fused = FuseForPlan(FusionProblem(*model), ops, kNeverStop);
    const Plan plan = PlanOf(fused);
    ASSERT_EQ(WhyNotValid(graph, machine, plan), std::nullopt) << round;
    for (std::size_t group = 0; group < plan.groups.size(); ++group) {
      for (const OpId op : plan.groups[group])
        EXPECT_EQ(plan.placement[group], ops.device[static_cast<std::size_t>(op)]);
    }
    if (!FitsInMemory(apart, start)) continue;
    EXPECT_TRUE(FitsInMemory(*fused.costed, fused.assignment)) << round;
    EXPECT_NEAR(fused.makespan, testing::SlowSimulate(graph, machine, plan).makespan, 1e-9 * fused.makespan) << round;
    const double before = Simulator(apart).Makespan(start);
    EXPECT_LE(fused.makespan, before * (1 + 1e-9)) << round;
    fused_some += plan.groups.size() < static_cast<std::size_t>(graph.num_ops()) ? 1 : 0;
    faster += fused.makespan < before * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(fused_some, 100);
  EXPECT_GT(faster, 50);
}

TEST(FuseForPlan, KeepsTheGroupsThatAUserKeeps) {
  Random random(23);
  int kept = 0;
  for (int round = 0; round < 100; ++round) {
    const testing::SteeredProblem problem(random);
    const CostedGraph apart = MakeCostedGraph(*problem.model, UnfusedGroups(*problem.model));
    Assignment start;
    for (int group = 0; group < apart.num_groups; ++group) {
      int device = 0;
      while (apart.Seconds(group, device) == kCannotRun) ++device;
      start.placement.push_back(device);
    }
    start.sequence.assign(apart.topological_order.begin(), apart.topological_order.end());
    const FusedPlan fused = FuseForPlan(FusionProblem(*problem.model), SpreadOverOps(apart, start), kNeverStop);
    for (const std::vector<OpId>& group : problem.steering.kept)
      EXPECT_NE(std::find(fused.costed->groups.begin(), fused.costed->groups.end(), group), fused.costed->groups.end());
    kept += static_cast<int>(problem.steering.kept.size());
  }
  EXPECT_GT(kept, 50);
}

// Ops that are long beside the time that fusing saves, poolings the longest.
ComputationGraph Reading(const std::vector<std::pair<std::string, std::vector<int>>>& ops) {
  GraphData data = testing::Reading(ops);
  for (Op& op : data.ops) op.flops = op.type == "MaxPool" ? 1e11 : 1e10;
  return ComputationGraph(data);
}

TEST(FuseForPlan, LeavesApartWhatSomebodyWaitsFor) {
  // The pooling waits for the convolution, which a group with the activation would only let go at its end.
  const ComputationGraph graph = Reading({{"Conv", {}}, {"Relu", {0}}, {"MaxPool", {0}}});
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("p100x2"));
  const FusionProblem problem(*model);
  EXPECT_EQ(FuseForPlan(problem, {{0, 0, 1}, {0, 1, 2}}, kNeverStop).costed->num_groups, 3);
  EXPECT_EQ(FuseForPlan(problem, {{0, 0, 0}, {0, 1, 2}}, kNeverStop).costed->num_groups, 2);
}

TEST(FuseForPlan, EndsAfterItsFirstTryWhereItIsToldTo) {
  // As above, and two more ops that may as well join.
  const ComputationGraph graph = Reading({{"Conv", {}}, {"Relu", {0}}, {"MaxPool", {0}}, {"Conv", {}}, {"Relu", {3}}});
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("p100x2"));
  const FusionProblem problem(*model);
  const OpPlan ops = {{0, 0, 1, 0, 0}, {0, 1, 2, 3, 4}};
  int asked = 0;
  EXPECT_EQ(FuseForPlan(problem, ops, [&asked] { return ++asked < 0; }).costed->num_groups, 4);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(FuseForPlan(problem, ops, [] { return true; }).costed->num_groups, 5);
}

}  // namespace
}  // namespace millrace
