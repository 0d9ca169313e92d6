// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/contention.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "millrace/graph/index.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/simulate/peak_memory.h"

namespace millrace {
namespace {

// Groups finish in order of (time, place in the sequence). A transfer's service is settled when its producer finishes,
// for none that comes later can be ready before it: first ready is first served without a queue.
class Contention {
 public:
  Contention(const CostedGraph& costed, const Assignment& assignment)
      : costed_(costed),
        assignment_(assignment),
        place_(static_cast<std::size_t>(costed.num_groups)),
        waiting_(place_.size(), 0),
        made_(place_.size()),
        next_(place_.size()),
        channel_free_(Channels(costed.topology), 0.0) {
    timeline_.start.assign(place_.size(), 0.0);
    timeline_.finish.assign(place_.size(), 0.0);
    for (std::size_t i = 0; i < place_.size(); ++i) place_[Index(assignment.sequence[i])] = static_cast<int>(i);
    for (const auto& [group, next] : ChainEdges(costed.topology, assignment)) {
      next_[Index(group)].push_back(next);
      ++waiting_[Index(next)];
    }
    for (std::size_t t = 0; t < costed.tensors.size(); ++t) {
      const GroupTensor& tensor = costed.tensors[t];
      if (tensor.producer < 0) continue;
      made_[Index(tensor.producer)].push_back(t);
      for (const std::int32_t reader : costed.Readers(tensor)) ++waiting_[Index(reader)];
    }
  }

  Timeline Run() {
    for (const int group : assignment_.sequence) {
      if (waiting_[Index(group)] == 0) Begin(group);
    }
    while (!finishing_.empty()) {
      const auto [time, place] = finishing_.top();
      finishing_.pop();
      const int group = assignment_.sequence[static_cast<std::size_t>(place)];
      for (const int next : next_[Index(group)]) Settle(next, time);
      for (const std::size_t tensor : made_[Index(group)]) Send(costed_.tensors[tensor], time);
    }
    return std::move(timeline_);
  }

 private:
  static std::size_t Channels(const Topology& topology) {
    return static_cast<std::size_t>(*std::max_element(topology.channel.begin(), topology.channel.end())) + 1;
  }

  int DeviceOf(int group) const { return assignment_.placement[Index(group)]; }

  void Begin(int group) {
    const double finish = timeline_.start[Index(group)] + costed_.Seconds(group, DeviceOf(group));
    timeline_.finish[Index(group)] = finish;
    timeline_.makespan = std::max(timeline_.makespan, finish);
    finishing_.emplace(finish, place_[Index(group)]);
  }

  // One of the things the group waits for happens at `time`.
  void Settle(int group, double time) {
    timeline_.start[Index(group)] = std::max(timeline_.start[Index(group)], time);
    if (--waiting_[Index(group)] == 0) Begin(group);
  }

  void Send(const GroupTensor& tensor, double time) {
    const Topology& topology = costed_.topology;
    const int from = DeviceOf(tensor.producer);
    readers_.clear();
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      const auto to = static_cast<std::size_t>(DeviceOf(reader));
      if (topology.free[topology.Pair(from, DeviceOf(reader))] != 0)
        Settle(reader, time);
      else
        readers_.push_back({topology.memory_of[to], place_[Index(reader)], reader});
    }
    std::sort(readers_.begin(), readers_.end(), [](const Reader& a, const Reader& b) {
      return a.memory != b.memory ? a.memory < b.memory : a.place < b.place;
    });
    double arrival = 0;
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      if (i == 0 || readers_[i].memory != readers_[i - 1].memory) {
        const int to = DeviceOf(readers_[i].group);
        double& channel = channel_free_[static_cast<std::size_t>(topology.channel[topology.Pair(from, to)])];
        arrival = std::max(channel, time) + costed_.TransferSeconds(tensor.bytes, from, to);
        channel = arrival;
      }
      Settle(readers_[i].group, arrival);
    }
  }

  struct Reader {
    std::int32_t memory;
    int place;
    std::int32_t group;
  };
  using Finish = std::pair<double, int>;  // when, and the group's place in the sequence

  const CostedGraph& costed_;
  const Assignment& assignment_;
  std::vector<int> place_;                      // by group
  std::vector<int> waiting_;                    // by group: tensors to come and groups before it on its units
  std::vector<std::vector<std::size_t>> made_;  // by group: places in costed.tensors, which ascend in tensor id
  std::vector<std::vector<int>> next_;          // by group: those that follow it on a unit
  std::vector<double> channel_free_;
  std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishing_;
  std::vector<Reader> readers_;
  Timeline timeline_;
};

}  // namespace

Timeline ContendedTimeline(const CostedGraph& costed, const Assignment& assignment) {
  return Contention(costed, assignment).Run();
}

std::optional<double> ContendedSeconds(const CostedGraph& costed, const Assignment& assignment) {
  if (!FitsInMemory(costed, assignment)) return std::nullopt;
  return ContendedTimeline(costed, assignment).makespan;
}

}  // namespace millrace
