// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/gang_choice.h"
#include "millrace/heuristics/heuristics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/planning/planner.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// Two cores and both together, which takes 6 s where one takes 10.
Machine TwoCores(bool with_gang) {
  Machine machine;
  for (const std::vector<int>& units : std::vector<std::vector<int>>{{0}, {1}, {0, 1}}) {
    Device device;
    device.name = "device" + std::to_string(machine.devices.size());
    device.kind = units.size() == 1 ? "core" : "gang";
    device.units = units;
    device.flops_per_second = device.memory_bandwidth = 1;
    if (units.size() == 1 || with_gang) machine.devices.push_back(device);
  }
  return machine;
}

// Three ops in a row, eight that only need the third, and three in a row that need those.
ComputationGraph RowThenFanThenRow() {
  GraphData data;
  const auto add = [&data](const std::vector<int>& reads) {
    const int op = static_cast<int>(data.ops.size());
    data.ops.emplace_back();
    data.ops.back().seconds.by_kind = {{"core", 10.0}, {"gang", 6.0}};
    for (const int read : reads) data.tensors[static_cast<std::size_t>(read)].consumers.push_back(op);
    data.tensors.emplace_back();
    data.tensors.back().producer = op;
    return op;
  };
  int last = add({});
  for (int i = 0; i < 2; ++i) last = add({last});
  std::vector<int> fan;
  for (int i = 0; i < 8; ++i) fan.push_back(add({last}));
  last = add(fan);
  for (int i = 0; i < 2; ++i) last = add({last});
  return ComputationGraph(data);
}

CostedGraph Price(const ComputationGraph& graph, const Machine& machine) {
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

double MakespanOf(const std::string& method, const CostedGraph& costed) {
  double makespan = 0;
  Random random(0);
  MakeHeuristic(method)->Propose(costed, {}, random, [&](const ProposedPlan& offer) {
    makespan = MakeTimeline(costed, offer.assignment).makespan;
  });
  return makespan;
}

TEST(GangChoices, AreTheGraphItselfWithoutGangs) {
  EXPECT_EQ(GangChoices(Price(RowThenFanThenRow(), TwoCores(false))).size(), 1u);
}

TEST(GangChoices, CloseTheGangWhereTheGraphIsWide) {
  const std::vector<CostedGraph> choices = GangChoices(Price(RowThenFanThenRow(), TwoCores(true)));
  ASSERT_EQ(choices.size(), 3u);
  for (int group = 0; group < 14; ++group) {
    EXPECT_TRUE(std::isfinite(choices[0].Seconds(group, 2)));
    EXPECT_EQ(std::isfinite(choices[1].Seconds(group, 2)), group < 3 || group >= 11) << group;
    EXPECT_FALSE(std::isfinite(choices[2].Seconds(group, 2)));
  }
}

TEST(GangChoices, LetHeuristicsUseAGangOnlyWhereItHelps) {
  const CostedGraph costed = Price(RowThenFanThenRow(), TwoCores(true));
  for (const char* method : {"heft", "heft-append", "peft", "dls", "minmin", "maxmin", "randomised-list"})
    EXPECT_DOUBLE_EQ(MakespanOf(method, costed), 6 * 3 + 4 * 10 + 6 * 3) << method;
  EXPECT_DOUBLE_EQ(MakespanOf("sequential", costed), 6 * 14);
}

}  // namespace
}  // namespace millrace
