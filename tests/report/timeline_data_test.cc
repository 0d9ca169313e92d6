// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/timeline_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

using DataJson = nlohmann::json;

std::vector<std::int64_t> Sums(const DataJson& deltas) {
  std::vector<std::int64_t> sums;
  std::int64_t at = 0;
  for (const DataJson& delta : deltas) sums.push_back(at += delta.get<std::int64_t>());
  return sums;
}

struct Sample {
  ComputationGraph graph;
  Machine machine;
  Candidate candidate;
  std::vector<PlanAccount> accounts;

  explicit Sample(Proxy proxy) {
    RandomGraphOptions options;
    options.ops = 120;
    options.ccr = 2;
    graph = MakeRandomGraph("layered", options);
    machine = *MachinePreset("homogeneous:4,latency=0.05,bandwidth=1e9");
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    const Assignment assignment = ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment;
    candidate.plan = {costed.groups, assignment.placement, assignment.sequence};
    accounts.push_back(AccountOf("best", candidate, graph, machine, proxy));
  }
};

// As the page's script reads it.
TEST(TimelineData, TellsWhenEveryGroupStartsToATick) {
  for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
    const Sample sample(proxy);
    const PlanAccount& account = sample.accounts[0];
    const std::vector<DataPart> parts =
        TimelineData(sample.graph, sample.machine, sample.accounts, TypeColours(sample.accounts), 100);
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[0].id, "base");
    EXPECT_EQ(parts[1].id, "groups-0");
    EXPECT_EQ(parts[2].id, "plan-0");
    const DataJson groups = DataJson::parse(parts[1].json), plan = DataJson::parse(parts[2].json);
    const double tick = plan["makespan"].get<double>() / kTicks;
    std::size_t told = 0;
    for (std::size_t device = 0; device < plan["lanes"].size(); ++device) {
      const DataJson& lane = plan["lanes"][device];
      const std::vector<std::int64_t> order = Sums(lane["groups"]);
      const DataJson& column = groups["columns"][groups["columnOf"][device].get<std::size_t>()];
      double time = 0;
      for (std::size_t i = 0; i < order.size(); ++i, ++told) {
        const auto group = static_cast<std::size_t>(order[i]);
        time += lane["gaps"][i].get<double>() * tick;
        EXPECT_NEAR(time, account.timeline.start[group], 2 * tick);
        time += std::stod(groups["values"][column[group].get<std::size_t>()].get<std::string>());
        EXPECT_NEAR(time, account.timeline.finish[group], 2 * tick);
        EXPECT_EQ(lane["why"][i].get<int>() == 0, account.explanation.traced.reasons[group].what == WaitsFor::kNothing);
      }
    }
    EXPECT_EQ(told, account.timeline.start.size());
    EXPECT_EQ(plan.contains("transfers"), proxy == Proxy::kContended);
  }
}

TEST(TimelineData, TellsAWayOfFusingOnce) {
  Sample sample(Proxy::kLinear);
  sample.accounts.push_back(sample.accounts[0]);
  const std::vector<DataPart> parts =
      TimelineData(sample.graph, sample.machine, sample.accounts, TypeColours(sample.accounts), 100);
  EXPECT_EQ(parts.size(), 4U);
  EXPECT_EQ(DataJson::parse(parts[3].json)["groups"], "groups-0");
}

TEST(TimelineDataHtml, LeavesOutPlansAndThenEverythingRatherThanGrow) {
  Sample sample(Proxy::kLinear);
  sample.accounts.push_back(sample.accounts[0]);
  const TypeColours colours(sample.accounts);
  const auto page = [&](std::size_t most) {
    return TimelineDataHtml(sample.graph, sample.machine, sample.accounts, colours, most);
  };
  const std::string whole = page(1'000'000);
  EXPECT_NE(whole.find("data-plan-1"), std::string::npos);
  const std::string less = page(whole.size() - 1);
  EXPECT_EQ(less.find("data-plan-1"), std::string::npos);
  EXPECT_NE(less.find("data-plan-0"), std::string::npos);
  EXPECT_EQ(page(100), "");
}

}  // namespace
}  // namespace millrace
