// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "millrace/cost/analytic_cost.h"
#include "millrace/gflownet/planners.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/simulate/contention.h"
#include "millrace/workloads/random_graph.h"

// Building plans where links share channels.
namespace millrace {
namespace {

// Devices on one bus.
Machine BusMachine(int devices) {
  Machine machine;
  machine.name = "bus";
  for (int device = 0; device < devices; ++device)
    machine.devices.push_back({"d" + std::to_string(device), "device", {device}, 1e12, 1e11, {}, 0});
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from == to) continue;
      Link link;
      link.from = from;
      link.to = to;
      link.latency_seconds = 0;
      link.bandwidth = 1e9;
      link.channel = 0;
      machine.links.push_back(link);
    }
  }
  return machine;
}

CostedGraph Priced(const ComputationGraph& graph, Proxy proxy) {
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, BusMachine(4), proxy), SingleOpGroups(graph));
}

ComputationGraph GraphOf(int ops, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = ops;
  options.ccr = 1;
  options.seed = seed;
  return MakeRandomGraph("layered", options);
}

TEST(ContendedState, WaitsForChannelsAndNeverLessThanTheLinearOne) {
  Random random(1);
  int waited = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const ComputationGraph graph = GraphOf(20, seed);
    const CostedGraph linear = Priced(graph, Proxy::kLinear), contended = Priced(graph, Proxy::kContended);
    const Environment without(linear), with(contended);
    State plain(without), state(with);
    while (!state.done()) {
      const std::int32_t group = state.ready()[random.Below(state.ready().size())];
      for (std::int32_t device = 0; device < 4; ++device) {
        // The linear state runs ahead of this one, so that its inputs are no later either.
        EXPECT_GE(state.Arrival(group, device), plain.Arrival(group, device) - 1e-12);
        waited += state.Arrival(group, device) > plain.Arrival(group, device) + 1e-9 ? 1 : 0;
      }
      const Action action{group, static_cast<std::int32_t>(random.Below(4))};
      state.Append(action);
      plain.Append(action);
      EXPECT_GE(state.Finish(group), plain.Finish(group) - 1e-12);
    }
  }
  EXPECT_GT(waited, 100);
}

TEST(ContendedState, CopiesGoTheirOwnWays) {
  const ComputationGraph graph = GraphOf(20, 3);
  const CostedGraph costed = Priced(graph, Proxy::kContended);
  const Environment environment(costed);
  State first(environment);
  while (first.steps() < 12) first.Append({first.ready().front(), static_cast<std::int32_t>(first.steps() % 4)});
  State second = first;
  while (!first.done()) first.Append({first.ready().front(), static_cast<std::int32_t>(first.steps() % 4)});
  while (!second.done()) second.Append({second.ready().front(), static_cast<std::int32_t>(second.steps() % 4)});
  EXPECT_EQ(first.makespan(), second.makespan());
}

TEST(ContendedSampling, JudgesPlansByTheContendedTimeline) {
  const ComputationGraph graph = GraphOf(40, 5);
  const CostedGraph costed = Priced(graph, Proxy::kContended);
  const Environment environment(costed);
  const auto policy = UntrainedGFlowNetPolicy()->Prepare(environment, 0.02);
  const std::vector<Trajectory> drawn = SampleTrajectories(environment, *policy, 8, {}, Random(1), nullptr);
  for (const Trajectory& trajectory : drawn)
    EXPECT_DOUBLE_EQ(trajectory.makespan, ContendedTimeline(costed, trajectory.assignment).makespan);
  const std::vector<Trajectory> redrawn =
      RedrawWindows(environment, *policy, drawn[0].assignment, {{5, 10}, {20, 20}}, {}, Random(2), nullptr);
  for (const Trajectory& trajectory : redrawn)
    EXPECT_DOUBLE_EQ(trajectory.makespan, ContendedTimeline(costed, trajectory.assignment).makespan);
}

TEST(ContendedSampling, FindsBetterPlansThanWhereChannelsAreNotSeen) {
  double seen = 0, unseen = 0;
  for (std::uint64_t seed = 20; seed < 30; ++seed) {
    const ComputationGraph graph = GraphOf(60, seed);
    const CostedGraph linear = Priced(graph, Proxy::kLinear), contended = Priced(graph, Proxy::kContended);
    const auto best = [&](const CostedGraph& costed) {
      const Environment environment(costed);
      const auto policy = UntrainedGFlowNetPolicy()->Prepare(environment, 0.02);
      double least = std::numeric_limits<double>::infinity();
      for (const Trajectory& trajectory : SampleTrajectories(environment, *policy, 32, {}, Random(seed), nullptr))
        least = std::min(least, ContendedTimeline(contended, trajectory.assignment).makespan);
      return least;
    };
    seen += best(contended);
    unseen += best(linear);
  }
  EXPECT_LT(seen, 0.98 * unseen);
}

}  // namespace
}  // namespace millrace
