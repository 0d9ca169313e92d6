// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/contention.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/slow_clock.h"

namespace millrace {
namespace {

using testing::RandomProblemOptions;
using testing::SlowTransfer;

std::vector<std::int32_t> ChannelsOf(const Topology& topology, const Flow& flow) {
  const std::size_t pair = topology.Pair(flow.from, flow.to);
  std::vector<std::int32_t> channels = {topology.channel[pair]};
  if (topology.EntryOf(pair) >= 0) channels.push_back(topology.EntryOf(pair));
  return channels;
}

double LinkOf(const Topology& topology, const Flow& flow) {
  return 1 / topology.seconds_per_byte[topology.Pair(flow.from, flow.to)];
}

bool HasFlows(const Topology& topology, std::size_t pair) {
  return topology.free[pair] == 0 && topology.seconds_per_byte[pair] > 0;
}

// By channel: bytes per second.
std::map<std::int32_t, double> Bandwidths(const Topology& topology) {
  std::map<std::int32_t, double> all;
  for (int from = 0; from < topology.num_devices; ++from) {
    for (int to = 0; to < topology.num_devices; ++to) {
      if (!HasFlows(topology, topology.Pair(from, to))) continue;
      const Flow flow{.from = from, .to = to};
      for (const std::int32_t channel : ChannelsOf(topology, flow))
        all[channel] = std::max(all[channel], LinkOf(topology, flow));
    }
  }
  return all;
}

// Rates rise together, one small step of the least link after another, and stay where they are as soon as something of
// theirs is full.
std::vector<double> SlowRates(const Topology& topology, const std::vector<Flow>& moving) {
  std::vector<double> rates(moving.size(), 0.0);
  std::vector<bool> open(moving.size(), true);
  std::map<std::int32_t, double> left = Bandwidths(topology);
  while (std::find(open.begin(), open.end(), true) != open.end()) {
    std::map<std::int32_t, int> users;
    for (std::size_t f = 0; f < moving.size(); ++f) {
      if (!open[f]) continue;
      for (const std::int32_t channel : ChannelsOf(topology, moving[f])) ++users[channel];
    }
    double step = SlowTransfer::kNever;
    for (std::size_t f = 0; f < moving.size(); ++f) {
      if (open[f]) step = std::min(step, LinkOf(topology, moving[f]) - rates[f]);
    }
    for (const auto& [channel, count] : users) step = std::min(step, left[channel] / count);
    std::set<std::int32_t> full;
    for (const auto& [channel, count] : users) {
      left[channel] -= step * count;
      if (left[channel] < 1e-12) full.insert(channel);
    }
    for (std::size_t f = 0; f < moving.size(); ++f) {
      if (!open[f]) continue;
      rates[f] += step;
      const auto channels = ChannelsOf(topology, moving[f]);
      if (rates[f] > LinkOf(topology, moving[f]) - 1e-12 ||
          std::any_of(channels.begin(), channels.end(), [&](std::int32_t channel) { return full.count(channel) > 0; }))
        open[f] = false;
    }
  }
  return rates;
}

// The rules, looked at anew at every event. Groups must take some time.
Timeline SlowFairTimeline(const CostedGraph& costed, const Assignment& assignment) {
  const Topology& topology = costed.topology;
  testing::SlowClock clock(costed, assignment);
  std::map<const SlowTransfer*, double> left;  // seconds, were it alone
  for (const SlowTransfer& transfer : clock.transfers())
    left[&transfer] = costed.TransferSeconds(transfer.tensor->bytes, transfer.from, transfer.to);
  for (double now = 0; now < SlowTransfer::kNever;) {
    double next = SlowTransfer::kNever;
    std::map<std::pair<int, int>, SlowTransfer*> first_of;
    for (SlowTransfer& transfer : clock.transfers()) {
      const std::size_t pair = topology.Pair(transfer.from, transfer.to);
      transfer.begin = clock.Ready(transfer);
      if (transfer.begin > now || transfer.end <= now) continue;
      if (!HasFlows(topology, pair)) {
        transfer.end = transfer.begin + topology.latency[pair];
        if (transfer.end > now) next = std::min(next, transfer.end);
        continue;
      }
      SlowTransfer*& first = first_of[{transfer.from, transfer.to}];
      if (first == nullptr || transfer.begin < first->begin) first = &transfer;
    }
    std::vector<Flow> moving;
    for (const auto& [pair, transfer] : first_of) moving.push_back({.from = pair.first, .to = pair.second});
    std::vector<double> speeds = SlowRates(topology, moving);
    for (std::size_t f = 0; f < moving.size(); ++f) speeds[f] /= LinkOf(topology, moving[f]);
    next = std::min(next, clock.StartGroups(now));
    std::size_t f = 0;
    for (const auto& [pair, transfer] : first_of) next = std::min(next, now + left[transfer] / speeds[f++]);
    f = 0;
    for (const auto& [pair, transfer] : first_of) {
      left[transfer] -= speeds[f++] * (next - now);
      if (left[transfer] < 1e-9) transfer->end = next;
    }
    now = next;
  }
  return clock.timeline();
}

TEST(FairShare, GivesRatesThatNobodyCanRaiseButAtTheCostOfSomeoneNoFaster) {
  Random random(7);
  int shared = 0;
  for (int round = 0; round < 300; ++round) {
    Machine machine = testing::RandomMachine(random, {.most_devices = 6, .gangs = false});
    const Topology topology = MakeTopology(machine);
    FairShare fair(topology);
    Flows flows;
    FairShare::Clear(flows);
    std::vector<Flow> moving;
    for (int from = 0; from < topology.num_devices; ++from) {
      for (int to = 0; to < topology.num_devices; ++to) {
        if (!HasFlows(topology, topology.Pair(from, to)) || random.Below(2) == 0) continue;
        moving.push_back({.from = from, .to = to, .seconds_left = random.Uniform(1.0, 2.0)});
        fair.Add(moving.back(), 0, flows);
      }
    }
    const std::vector<double> slow = SlowRates(topology, moving);
    for (std::size_t f = 0; f < moving.size(); ++f) {
      ASSERT_NEAR(flows.moving[f].speed * LinkOf(topology, moving[f]), slow[f], 1e-9 * slow[f]);
      shared += slow[f] < 0.999 * LinkOf(topology, moving[f]) ? 1 : 0;
    }
  }
  EXPECT_GT(shared, 200);
}

TEST(FairShare, SendsWhatLeavesAPairOneAfterTheOther) {
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d", "cpu", {d}, 1, 1, std::nullopt, 0});
  machine.default_link = DefaultLink{0, 4};
  const Topology topology = MakeTopology(machine);
  FairShare fair(topology);
  Flows flows;
  FairShare::Clear(flows);
  fair.Add({.made = 1, .from = 0, .to = 1, .seconds_left = 2}, 0, flows);
  fair.Add({.made = 2, .from = 0, .to = 1, .seconds_left = 1}, 1, flows);
  EXPECT_EQ(flows.next_end, 2);
  EXPECT_EQ(fair.TakeFirst(flows).made, 1);
  EXPECT_EQ(flows.next_end, 3);
  EXPECT_EQ(fair.TakeFirst(flows).made, 2);
  EXPECT_EQ(flows.next_end, SlowTransfer::kNever);
}

TEST(FairContendedTimeline, LetsWhatComesFromTwoHostsIntoAThirdAtOnce) {
  // Ops 0 on host 0 and 1 on host 1 are over at 1 and send 2 bytes each to host 2, where ops 2 and 3 read them.
  GraphData data;
  data.ops.resize(4);
  for (Op& op : data.ops) op.seconds.everywhere = 1;
  data.tensors = {{"a", 0, {2}, 2, false}, {"b", 1, {3}, 2, false}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  for (int d = 0; d < 3; ++d) machine.devices.push_back({"d", "cpu", {d}, 1, 1, std::nullopt, 0});
  for (int d = 0; d < 2; ++d) machine.links.push_back({d, 2, 0.5, 1, d, 2});
  const auto start = [&] {
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    return ContendedTimeline(costed, {{0, 1, 2, 2}, {0, 1, 2, 3}}).start;
  };
  // One at a time, they are there at 3.5 and 6; at once, both have half of the way in from 1 on.
  EXPECT_THAT(start(), ::testing::ElementsAre(0, 0, 3.5, 6));
  machine.sharing = Sharing::kFair;
  EXPECT_THAT(start(), ::testing::ElementsAre(0, 0, 6, 7));
}

TEST(FairContendedTimeline, EqualsASlowClockOnRandomProblems) {
  int different = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    RandomProblemOptions options;
    options.gangs = seed % 2 == 0;
    options.fair = true;
    if (seed % 3 == 0) options.most_ops = 40;
    const ComputationGraph graph = testing::LastingGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const CostedGraph costed = MakeCostedGraph(*model, std::move(plan.groups));
    const Assignment assignment = {std::move(plan.placement), std::move(plan.sequence)};
    const Timeline fast = ContendedTimeline(costed, assignment);
    const Timeline slow = SlowFairTimeline(costed, assignment);
    for (std::size_t g = 0; g < fast.start.size(); ++g) {
      ASSERT_NEAR(fast.start[g], slow.start[g], 1e-6);
      ASSERT_NEAR(fast.finish[g], slow.finish[g], 1e-6);
    }
    CostedGraph in_turn = costed;
    in_turn.topology.sharing = Sharing::kOneAtATime;
    different += std::abs(ContendedTimeline(in_turn, assignment).makespan - fast.makespan) > 1e-6 ? 1 : 0;
  }
  EXPECT_GT(different, 25);
}

TEST(FairContendedTimeline, NeverBeatsTheLinearOneWhereEveryDeviceHasItsOwnMemory) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    const testing::CostedProblem problem(random, {.gangs = false, .fair = true}, Proxy::kContended);
    const Assignment assignment = problem.Start(random);
    CostedGraph linear = problem.costed;
    linear.topology.proxy = Proxy::kLinear;
    const Timeline alone = MakeTimeline(linear, assignment);
    const Timeline fair = ContendedTimeline(problem.costed, assignment);
    for (std::size_t g = 0; g < alone.start.size(); ++g) ASSERT_GE(fair.start[g], alone.start[g] * (1 - 1e-9));
  }
}

}  // namespace
}  // namespace millrace
