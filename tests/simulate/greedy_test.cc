// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/greedy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "millrace/graph/index.h"
#include "millrace/simulate/bounds.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

constexpr double kNotYet = std::numeric_limits<double>::infinity();

// The same from the rules alone: every time something happens, all groups are looked at.
class SlowGreedy {
 public:
  SlowGreedy(const CostedGraph& costed, const Assignment& assignment) : costed_(costed), plan_(assignment) {
    const auto groups = Index(costed.num_groups);
    start_.assign(groups, kNotYet);
    finish_.assign(groups, kNotYet);
    ended_.assign(groups, false);
    channel_free_.assign(costed.topology.NumChannels(), 0.0);
    for (const GroupTensor& tensor : costed.tensors)
      arrivals_.emplace_back(groups, tensor.producer < 0 ? 0.0 : kNotYet);
  }

  Timeline Run() {
    for (double now = 0; now < kNotYet; now = Next(now)) {
      do {
        for (const int group : plan_.sequence) {
          if (!ended_[Index(group)] && finish_[Index(group)] == now) End(group, now);
        }
        LetIn(now);
        while (StartBest(now)) {
        }
      } while (AnyEndsAt(now));
    }
    Timeline timeline{start_, finish_, 0};
    for (const double finish : finish_) timeline.makespan = std::max(timeline.makespan, finish);
    return timeline;
  }

 private:
  int Device(int group) const { return plan_.placement[Index(group)]; }
  int Place(int group) const {
    return static_cast<int>(std::find(plan_.sequence.begin(), plan_.sequence.end(), group) - plan_.sequence.begin());
  }

  std::set<int> Units(int device) const {
    const Topology& topology = costed_.topology;
    return {topology.device_units.begin() + topology.device_offsets[Index(device)],
            topology.device_units.begin() + topology.device_offsets[Index(device) + 1]};
  }

  bool Reads(int group, const GroupTensor& tensor) const {
    const auto readers = costed_.Readers(tensor);
    return std::find(readers.begin(), readers.end(), group) != readers.end();
  }

  double Ready(int group) const {
    double ready = 0;
    for (std::size_t t = 0; t < costed_.tensors.size(); ++t) {
      if (Reads(group, costed_.tensors[t])) ready = std::max(ready, arrivals_[t][Index(group)]);
    }
    return ready;
  }

  bool UnitsFree(int device) const {
    for (int group = 0; group < costed_.num_groups; ++group) {
      if (start_[Index(group)] == kNotYet || ended_[Index(group)]) continue;
      for (const int unit : Units(Device(group))) {
        if (Units(device).count(unit) > 0) return false;
      }
    }
    return true;
  }

  bool StartBest(double now) {
    std::pair<double, int> least{kNotYet, 0};
    for (int group = 0; group < costed_.num_groups; ++group) {
      if (start_[Index(group)] < kNotYet || Ready(group) > now || !UnitsFree(Device(group))) continue;
      least = std::min(least, {Ready(group), Place(group)});
    }
    if (least.first == kNotYet) return false;
    const int group = plan_.sequence[Index(least.second)];
    start_[Index(group)] = now;
    finish_[Index(group)] = now + costed_.Seconds(group, Device(group));
    return true;
  }

  bool AnyEndsAt(double now) const {
    for (int group = 0; group < costed_.num_groups; ++group) {
      if (!ended_[Index(group)] && finish_[Index(group)] == now) return true;
    }
    return false;
  }

  void End(int group, double now) {
    ended_[Index(group)] = true;
    const Topology& topology = costed_.topology;
    const int from = Device(group);
    for (std::size_t t = 0; t < costed_.tensors.size(); ++t) {
      const GroupTensor& tensor = costed_.tensors[t];
      if (tensor.producer != group) continue;
      for (int memory = 0; memory < topology.num_memories; ++memory) {
        double shared = kNotYet;  // arrival of the one transfer to this memory
        bool on_the_way = false;  // to an entry channel, which will tell
        for (const int reader : plan_.sequence) {
          const int to = Device(reader);
          if (!Reads(reader, tensor) || topology.memory_of[Index(to)] != memory) continue;
          double& arrival = arrivals_[t][Index(reader)];
          const double seconds = costed_.TransferSeconds(tensor.bytes, from, to);
          if (topology.proxy == Proxy::kLinear || topology.free[topology.Pair(from, to)] != 0) {
            arrival = now + seconds;
            continue;
          }
          const std::int32_t entry = topology.EntryOf(topology.Pair(from, to));
          if (shared == kNotYet && !on_the_way) {
            double& channel = channel_free_[Index(topology.channel[topology.Pair(from, to)])];
            const double begin = std::max(channel, now);
            channel = begin + seconds;
            on_the_way = entry >= 0;
            if (on_the_way) coming_.push_back({begin, t, entry, seconds, {}, false});
            if (!on_the_way) shared = channel;
          }
          arrival = shared;
          if (on_the_way) coming_.back().readers.push_back(reader);
        }
      }
    }
  }

  // At their entry channels, in the order in which their own channels let them in.
  void LetIn(double now) {
    for (;;) {
      Coming* first = nullptr;
      for (Coming& coming : coming_) {
        if (coming.begin > now || coming.served || (first != nullptr && first->begin <= coming.begin)) continue;
        first = &coming;
      }
      if (first == nullptr) return;
      first->served = true;
      double& entry = channel_free_[Index(first->entry)];
      entry = std::max(entry, first->begin) + first->seconds;
      for (const int reader : first->readers) arrivals_[first->tensor][Index(reader)] = entry;
    }
  }

  // The first time after `now` at which a group ends or has its inputs, or a transfer comes to its entry channel.
  double Next(double now) const {
    double next = kNotYet;
    for (const Coming& coming : coming_) {
      if (!coming.served) next = std::min(next, coming.begin);
    }
    for (int group = 0; group < costed_.num_groups; ++group) {
      if (!ended_[Index(group)]) next = std::min(next, finish_[Index(group)]);
      if (start_[Index(group)] == kNotYet && Ready(group) > now) next = std::min(next, Ready(group));
    }
    return next;
  }

  struct Coming {
    double begin;  // on its channel
    std::size_t tensor;
    std::int32_t entry;
    double seconds;
    std::vector<int> readers;
    bool served;
  };

  const CostedGraph& costed_;
  const Assignment& plan_;
  std::vector<double> start_, finish_;
  std::vector<bool> ended_;
  std::vector<std::vector<double>> arrivals_;  // by tensor and group
  std::vector<double> channel_free_;
  std::vector<Coming> coming_;  // as they were sent
};

TEST(GreedyTimeline, IsThatOfASlowExecutionByTheRulesAlone) {
  Random random(1);
  for (int round = 0; round < testing::Rounds(300); ++round) {
    const testing::CostedProblem problem(random);
    const Assignment plan = problem.Start(random);
    CostedGraph costed = problem.costed;
    for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
      costed.topology.proxy = proxy;
      const Timeline fast = GreedyTimeline(costed, plan);
      const Timeline slow = SlowGreedy(costed, plan).Run();
      EXPECT_EQ(fast.start, slow.start) << round;
      EXPECT_EQ(fast.finish, slow.finish) << round;
      EXPECT_EQ(fast.makespan, slow.makespan) << round;
      EXPECT_GE(fast.makespan, LowerBound(costed) * (1 - 1e-9));
    }
  }
}

TEST(GreedyTimeline, DependsOnTheSequenceOnlyForTies) {
  // Two groups on one device, of which the second in the sequence is ready first.
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) op.seconds.everywhere = 1.0;
  data.tensors.push_back({"late", 0, {1}, 0, false});
  const ComputationGraph graph(std::move(data));
  Machine machine;
  for (int device = 0; device < 2; ++device)
    machine.devices.push_back({"d" + std::to_string(device), "any", {device}, 1e12, 1e11, std::nullopt, 0});
  const auto model = MakeAnalyticCostModel(graph, machine);
  const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
  const Assignment waits{{0, 1, 1}, {0, 1, 2}};
  EXPECT_DOUBLE_EQ(MakeTimeline(costed, waits).makespan, 3);
  EXPECT_DOUBLE_EQ(GreedyTimeline(costed, waits).makespan, 2);
  EXPECT_DOUBLE_EQ(Fragility(costed, waits), 2.0 / 3);
  EXPECT_DOUBLE_EQ(Fragility(costed, {{0, 1, 1}, {0, 2, 1}}), 1);
}

TEST(GreedyTimeline, IsTheProxysForTheOrderInWhichItStartsGroups) {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    const testing::CostedProblem problem(random);
    Assignment plan = problem.Start(random);
    const Timeline greedy = GreedyTimeline(problem.costed, plan);
    std::stable_sort(plan.sequence.begin(), plan.sequence.end(), [&greedy](int a, int b) {
      return std::tie(greedy.start[Index(a)], greedy.finish[Index(a)]) <
             std::tie(greedy.start[Index(b)], greedy.finish[Index(b)]);
    });
    EXPECT_LE(MakeTimeline(problem.costed, plan).makespan, greedy.makespan * (1 + 1e-12)) << round;
  }
}

}  // namespace
}  // namespace millrace
