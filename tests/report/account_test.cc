// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/account.h"

#include <gtest/gtest.h>

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
