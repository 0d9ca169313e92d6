// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "millrace/cost/analytic_cost.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

using testing::RandomProblemOptions;

constexpr double kNever = std::numeric_limits<double>::infinity();

// The header's rules as a clock that is moved from event to event, with everything looked at each time. Groups must
// take some time.
Timeline SlowContendedTimeline(const CostedGraph& costed, const Assignment& assignment) {
  struct Transfer {
    const GroupTensor* tensor;
    int place, memory, channel, entry;
    double duration;
    double begin = kNever;  // on its channel
    double end = kNever;    // there
  };
  const Topology& topology = costed.topology;
  const auto groups = static_cast<std::size_t>(costed.num_groups);
  const auto device_of = [&](int group) { return assignment.placement[static_cast<std::size_t>(group)]; };
  std::vector<int> place(groups);
  for (std::size_t i = 0; i < groups; ++i)
    place[static_cast<std::size_t>(assignment.sequence[i])] = static_cast<int>(i);
  std::vector<Transfer> transfers;
  for (const GroupTensor& tensor : costed.tensors) {
    for (int memory = 0; memory < topology.num_memories && tensor.producer >= 0; ++memory) {
      int first = -1;
      for (const std::int32_t reader : costed.Readers(tensor)) {
        const std::size_t pair = topology.Pair(device_of(tensor.producer), device_of(reader));
        if (topology.memory_of[static_cast<std::size_t>(device_of(reader))] != memory || topology.free[pair]) continue;
        if (first < 0 || place[static_cast<std::size_t>(reader)] < place[static_cast<std::size_t>(first)])
          first = reader;
      }
      if (first < 0) continue;
      const int from = device_of(tensor.producer);
      transfers.push_back({&tensor, place[static_cast<std::size_t>(tensor.producer)], memory,
                           topology.channel[topology.Pair(from, device_of(first))],
                           topology.EntryOf(topology.Pair(from, device_of(first))),
                           costed.TransferSeconds(tensor.bytes, from, device_of(first))});
    }
  }
  Timeline timeline;
  timeline.start.assign(groups, kNever);
  timeline.finish.assign(groups, kNever);
  const auto share_a_unit = [&](int a, int b) {
    for (int i = topology.device_offsets[static_cast<std::size_t>(a)];
         i < topology.device_offsets[static_cast<std::size_t>(a) + 1]; ++i) {
      for (int j = topology.device_offsets[static_cast<std::size_t>(b)];
           j < topology.device_offsets[static_cast<std::size_t>(b) + 1]; ++j) {
        if (topology.device_units[static_cast<std::size_t>(i)] == topology.device_units[static_cast<std::size_t>(j)])
          return true;
      }
    }
    return false;
  };
  const auto can_start = [&](int group, double now) {
    for (int i = 0; i < place[static_cast<std::size_t>(group)]; ++i) {
      const int earlier = assignment.sequence[static_cast<std::size_t>(i)];
      if (share_a_unit(device_of(earlier), device_of(group)) &&
          timeline.finish[static_cast<std::size_t>(earlier)] > now)
        return false;
    }
    for (const GroupTensor& tensor : costed.tensors) {
      const auto readers = costed.Readers(tensor);
      if (tensor.producer < 0 || std::find(readers.begin(), readers.end(), group) == readers.end()) continue;
      if (timeline.finish[static_cast<std::size_t>(tensor.producer)] > now) return false;
      if (topology.free[topology.Pair(device_of(tensor.producer), device_of(group))]) continue;
      for (const Transfer& transfer : transfers) {
        if (transfer.tensor == &tensor &&
            transfer.memory == topology.memory_of[static_cast<std::size_t>(device_of(group))] && transfer.end > now)
          return false;
      }
    }
    return true;
  };
  std::map<int, double> busy_until;
  for (double now = 0; now < kNever;) {
    for (bool moved = true; moved;) {
      moved = false;
      Transfer* best = nullptr;
      const auto ready = [&](const Transfer& t) {
        return timeline.finish[static_cast<std::size_t>(t.tensor->producer)];
      };
      // A transfer asks for its channel when it is ready, and then, when it is let in there, for its entry.
      const auto at_entry = [&](const Transfer& t) { return t.begin < kNever; };
      const auto rank = [&](const Transfer& t) {
        return std::tuple(at_entry(t) ? t.begin : ready(t), at_entry(t), ready(t), t.place, t.tensor->tensor, t.memory);
      };
      for (Transfer& transfer : transfers) {
        if (transfer.end < kNever || ready(transfer) > now) continue;
        if (busy_until[at_entry(transfer) ? transfer.entry : transfer.channel] > now) continue;
        if (best == nullptr || rank(transfer) < rank(*best)) best = &transfer;
      }
      if (best != nullptr) {
        const double end = now + best->duration;
        busy_until[at_entry(*best) ? best->entry : best->channel] = end;
        if (at_entry(*best) || best->entry < 0) best->end = end;
        if (!at_entry(*best)) best->begin = now;
        moved = true;
      }
    }
    double next = kNever;
    for (int group = 0; group < costed.num_groups; ++group) {
      const auto g = static_cast<std::size_t>(group);
      if (timeline.start[g] == kNever && can_start(group, now)) {
        timeline.start[g] = now;
        timeline.finish[g] = now + costed.Seconds(group, device_of(group));
        timeline.makespan = std::max(timeline.makespan, timeline.finish[g]);
      }
      if (timeline.finish[g] > now) next = std::min(next, timeline.finish[g]);
    }
    for (const Transfer& transfer : transfers) {
      if (transfer.end > now) next = std::min(next, transfer.end);
    }
    for (const auto& [channel, until] : busy_until) {
      if (until > now) next = std::min(next, until);
    }
    now = next;
  }
  return timeline;
}

// Like a random graph, but no op is over in no time.
ComputationGraph LastingGraph(Random& random, const RandomProblemOptions& options) {
  GraphData data = testing::RandomGraph(random, options).data();
  for (Op& op : data.ops) {
    op.seconds.by_kind.clear();
    op.seconds.everywhere = 0.5 * static_cast<double>(1 + random.Below(6));
  }
  data.group_seconds.clear();
  return ComputationGraph(std::move(data));
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
    const ComputationGraph graph = LastingGraph(random, options);
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
