// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "millrace/cost/analytic_cost.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/slow_clock.h"

namespace millrace {
namespace {

using testing::RandomProblemOptions;
using testing::SlowTransfer;

// The header's rules. Groups must take some time.
Timeline SlowContendedTimeline(const CostedGraph& costed, const Assignment& assignment) {
  const Topology& topology = costed.topology;
  testing::SlowClock clock(costed, assignment);
  const auto channel_of = [&](const SlowTransfer& t) { return topology.channel[topology.Pair(t.from, t.to)]; };
  const auto entry_of = [&](const SlowTransfer& t) { return topology.EntryOf(topology.Pair(t.from, t.to)); };
  // A transfer asks for its channel when it is ready, and then, when it is let in there, for its entry.
  const auto at_entry = [](const SlowTransfer& t) { return t.begin < SlowTransfer::kNever; };
  const auto asks_for = [&](const SlowTransfer& t) { return at_entry(t) ? entry_of(t) : channel_of(t); };
  const auto rank = [&](const SlowTransfer& t) {
    return std::tuple(at_entry(t) ? t.begin : clock.Ready(t), at_entry(t), clock.Ready(t));
  };
  std::map<int, double> busy_until;
  for (double now = 0; now < SlowTransfer::kNever;) {
    for (bool moved = true; moved;) {
      moved = false;
      SlowTransfer* best = nullptr;
      for (SlowTransfer& transfer : clock.transfers()) {
        if (transfer.end < SlowTransfer::kNever || clock.Ready(transfer) > now) continue;
        if (busy_until[asks_for(transfer)] > now) continue;
        if (best == nullptr || rank(transfer) < rank(*best)) best = &transfer;
      }
      if (best != nullptr) {
        const double end = now + costed.TransferSeconds(best->tensor->bytes, best->from, best->to);
        busy_until[asks_for(*best)] = end;
        if (at_entry(*best) || entry_of(*best) < 0) best->end = end;
        if (!at_entry(*best)) best->begin = now;
        moved = true;
      }
    }
    double next = clock.StartGroups(now);
    for (const SlowTransfer& transfer : clock.transfers()) {
      if (transfer.end > now) next = std::min(next, transfer.end);
    }
    for (const auto& [channel, until] : busy_until) {
      if (until > now) next = std::min(next, until);
    }
    now = next;
  }
  return clock.timeline();
}

TEST(ContendedTimeline, EqualsASlowClockOnRandomProblems) {
  int held_up = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    RandomProblemOptions options;
    options.tidy = true;
    options.gangs = seed % 2 == 0;
    if (seed % 3 == 0) options.most_ops = 40;
    const ComputationGraph graph = testing::LastingGraph(random, options);
    Machine machine = testing::RandomMachine(random, options);
    if (seed % 3 == 0) {
      for (Link& link : machine.links) link.entry_channel = 50 + link.to;
    }
    const auto model = MakeAnalyticCostModel(graph, machine);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const CostedGraph costed = MakeCostedGraph(*model, plan.groups);
    const Timeline fast = ContendedTimeline(costed, {plan.placement, plan.sequence});
    const Timeline slow = SlowContendedTimeline(costed, {plan.placement, plan.sequence});
    ASSERT_EQ(fast.start, slow.start);
    ASSERT_EQ(fast.finish, slow.finish);
    ASSERT_EQ(fast.makespan, slow.makespan);
    CostedGraph without = costed;
    without.topology.entry.clear();
    held_up += ContendedTimeline(without, {plan.placement, plan.sequence}).start != fast.start ? 1 : 0;
  }
  EXPECT_GT(held_up, 20) << "else entry channels were not looked at";
}

TEST(ContendedTimeline, IsWhatTheSimulatorGivesWhereTheProxyIsContended) {
  Random random(5);
  int different = 0;
  for (int round = 0; round < 100; ++round) {
    const testing::CostedProblem problem(random, {}, Proxy::kContended);
    CostedGraph linear = problem.costed;
    linear.topology.proxy = Proxy::kLinear;
    Simulator simulator(problem.costed);
    Timeline timeline;
    for (int plan = 0; plan < 3; ++plan) {
      const Assignment assignment = problem.Start(random);
      const Timeline contended = ContendedTimeline(linear, assignment);
      simulator.Run(assignment, timeline);
      ASSERT_EQ(timeline.start, contended.start);
      ASSERT_EQ(timeline.finish, contended.finish);
      ASSERT_EQ(simulator.Makespan(assignment), contended.makespan);
      different += contended.makespan != Simulator(linear).Makespan(assignment) ? 1 : 0;
    }
  }
  EXPECT_GT(different, 50);
}

TEST(ContendedTimeline, IsTheLinearOneWhereTransfersAreFree) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    RandomProblemOptions options;
    options.links = false;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const CostedGraph costed = MakeCostedGraph(*model, plan.groups);
    const Timeline linear = MakeTimeline(costed, {plan.placement, plan.sequence});
    const Timeline contended = ContendedTimeline(costed, {plan.placement, plan.sequence});
    ASSERT_EQ(contended.start, linear.start);
    ASSERT_EQ(contended.finish, linear.finish);
  }
}

TEST(ContendedTimeline, NeverBeatsTheLinearOneWhereEveryDeviceHasItsOwnMemory) {
  int slower = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    RandomProblemOptions options;
    options.gangs = false;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const CostedGraph costed = MakeCostedGraph(*model, plan.groups);
    const Timeline linear = MakeTimeline(costed, {plan.placement, plan.sequence});
    const Timeline contended = ContendedTimeline(costed, {plan.placement, plan.sequence});
    for (std::size_t g = 0; g < linear.start.size(); ++g) ASSERT_GE(contended.start[g], linear.start[g] - 1e-9);
    slower += contended.makespan > linear.makespan ? 1 : 0;
  }
  EXPECT_GT(slower, 20);
}

TEST(ContendedTimeline, ServesOneTransferAtATimeAndSendsATensorToEachMemoryOnce) {
  // Ops 0 and 1 on device 0 each make a tensor of 2 bytes; ops 2, 3 and 4 on device 1 read the first, the second and
  // the second again.
  GraphData data;
  data.ops.resize(5);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.tensors = {{"a", 0, {2}, 2, false}, {"b", 1, {3, 4}, 2, false}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d", "cpu", {d}, 1, 1, std::nullopt, 0});
  machine.default_link = DefaultLink{1, 1};
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const Timeline timeline = ContendedTimeline(costed, {{0, 0, 1, 1, 1}, {0, 1, 2, 3, 4}});
  // The first is under way from 1 to 4; the second waits from 2 to 4 and is there at 7, for both its readers.
  EXPECT_THAT(timeline.start, ::testing::ElementsAre(0, 1, 4, 7, 8));
  EXPECT_EQ(timeline.makespan, 9);
}

TEST(ContendedTimeline, LetsWhatComesFromTwoHostsIntoAThirdOneAfterTheOther) {
  // Ops 0 on host 0 and 1 on host 1 are over at 1 and send 2 bytes each to host 2, where ops 2 and 3 read them; op 4 on
  // host 3 reads what op 0 makes, too. Host 0 sends first to host 2, then to host 3.
  GraphData data;
  data.ops.resize(5);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.tensors = {{"a", 0, {2, 4}, 2, false}, {"b", 1, {3}, 2, false}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  for (int d = 0; d < 4; ++d) machine.devices.push_back({"d", "cpu", {d}, 1, 1, std::nullopt, 0});
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from != to) machine.links.push_back({from, to, 0, 1, from, 4 + to});
    }
  }
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const Timeline timeline = ContendedTimeline(costed, {{0, 1, 2, 2, 3}, {0, 1, 2, 3, 4}});
  // "a" comes in from 1 to 3; "b" leaves host 1 from 1 on, but comes in from 3 to 5. Host 0 sends on from 3 to 5.
  EXPECT_THAT(timeline.start, ::testing::ElementsAre(0, 0, 3, 5, 5));
}

}  // namespace
}  // namespace millrace
