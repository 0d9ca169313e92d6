// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/account.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/contention.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

TEST(AccountOf, TellsTheTimelineOfTheProxyOrThatOfSharedLinks) {
  RandomGraphOptions options;
  options.ops = 60;
  options.ccr = 5;
  const ComputationGraph graph = MakeRandomGraph("layered", options);
  const Machine machine = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const Assignment assignment = ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment;
  Candidate candidate;
  candidate.plan = {costed.groups, assignment.placement, assignment.sequence};
  const PlanAccount alone = AccountOf("heft", candidate, graph, machine);
  const PlanAccount shared = AccountOf("heft", candidate, graph, machine, Proxy::kContended);
  EXPECT_EQ(alone.timeline.makespan, MakeTimeline(costed, assignment).makespan);
  EXPECT_EQ(shared.timeline.makespan, ContendedTimeline(costed, assignment).makespan);
  EXPECT_LT(alone.timeline.makespan, shared.timeline.makespan);
  EXPECT_EQ(alone.proxy, Proxy::kLinear);
  EXPECT_EQ(shared.proxy, Proxy::kContended);
}

TEST(AccountOf, TellsOfAllOfEveryUnitsTime) {
  for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
    RandomGraphOptions options;
    options.ops = 80;
    options.ccr = 3;
    const ComputationGraph graph = MakeRandomGraph("er", options);
    const Machine machine = *MachinePreset("homogeneous:3,latency=0.1,bandwidth=1e9");
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    const Assignment assignment = ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment;
    Candidate candidate;
    candidate.plan = {costed.groups, assignment.placement, assignment.sequence};
    const PlanAccount account = AccountOf("heft", candidate, graph, machine, proxy);
    double transfers = 0;
    for (std::size_t unit = 0; unit < account.units.size(); ++unit) {
      const UnitTime& time = account.units[unit];
      EXPECT_GE(std::min({time.computing, time.for_transfers, time.for_results, time.idle}), 0);
      EXPECT_NEAR(time.computing + time.for_transfers + time.for_results + time.idle, account.timeline.makespan, 1e-9);
      EXPECT_NEAR(time.computing, account.device_busy[unit], 1e-9);
      transfers += time.for_transfers;
    }
    EXPECT_GT(transfers, 0);
    double received = 0;
    for (const double bytes : account.received_bytes) received += bytes;
    EXPECT_NEAR(received, account.explanation.transferred_bytes, 1e-3);
    for (std::size_t memory = 0; memory < account.memory.size(); ++memory)
      EXPECT_EQ(*std::max_element(account.memory[memory].bytes.begin(), account.memory[memory].bytes.end()),
                account.peak_memory[memory]);
  }
}

TEST(AccountOf, CallsAGroupByTheOpThatTakesMostOfItsTime) {
  GraphData data;
  data.ops.resize(3);
  data.ops[0].type = "Relu";
  data.ops[1].type = "Conv";
  data.ops[0].flops = 10;
  data.ops[1].flops = 1000;
  data.tensors = {{"a", 1, {0}, 8, false}, {"b", 0, {2}, 8, false}};
  const ComputationGraph graph(std::move(data));
  EXPECT_EQ(MainTypeOf(graph, {0, 1}), "Conv");
  EXPECT_EQ(MainTypeOf(graph, {0}), "Relu");
  EXPECT_EQ(MainTypeOf(graph, {2}), "op");
  EXPECT_EQ(TypesOf(graph, {1, 0}), "Conv + Relu");
}

TEST(AccountsOf, ShowAMeasuredTimelineBesideThePredictedOne) {
  OptimizeResult result;
  result.graph = MakeRandomGraph("layered", {});
  result.machine = *MachinePreset("homogeneous:2");
  result.target = "sim:noise";
  const CostedGraph costed =
      MakeCostedGraph(*MakeAnalyticCostModel(result.graph, result.machine), SingleOpGroups(result.graph));
  const Assignment assignment = ScheduleSequential(costed).assignment;
  result.best.plan = {costed.groups, assignment.placement, assignment.sequence};
  Timeline measured = MakeTimeline(costed, assignment);
  for (double& time : measured.start) time *= 2;
  for (double& time : measured.finish) time *= 2;
  measured.makespan *= 2;
  result.best.measured = measured;
  const std::vector<PlanAccount> accounts = AccountsOf(result);
  ASSERT_EQ(accounts.size(), 2U);
  EXPECT_EQ(accounts[1].name, "best");
  EXPECT_EQ(accounts[1].shown, "measured");
  EXPECT_EQ(accounts[1].timeline.makespan, 2 * accounts[0].timeline.makespan);
  EXPECT_DOUBLE_EQ(accounts[1].types[0].seconds, 2 * accounts[0].types[0].seconds);
}

TEST(AccountsOf, FollowTheTarget) {
  for (const bool shared : {false, true}) {
    OptimizeResult result;
    result.graph = MakeRandomGraph("layered", {});
    result.machine = *MachinePreset("homogeneous:2,latency=0,bandwidth=1e9");
    result.target = shared ? "sim:contention" : "sim:noise";
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(result.graph, result.machine), SingleOpGroups(result.graph));
    const Assignment assignment = ScheduleSequential(costed).assignment;
    result.best.plan = {costed.groups, assignment.placement, assignment.sequence};
    const PlanAccount account = AccountsOf(result).front();
    EXPECT_EQ(account.of_target, shared);
    EXPECT_EQ(account.proxy == Proxy::kContended, shared);
    EXPECT_EQ(account.peak_memory, AccountOf("best", result.best, result.graph, result.machine).peak_memory);
  }
}

}  // namespace
}  // namespace millrace
