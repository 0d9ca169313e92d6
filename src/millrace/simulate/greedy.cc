// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/greedy.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

class GreedyExecution {
 public:
  GreedyExecution(const CostedGraph& costed, const Assignment& assignment)
      : costed_(costed),
        assignment_(assignment),
        place_(Index(costed.num_groups)),
        missing_(place_.size(), 0),
        ready_(place_.size(), 0.0),
        made_(place_.size()),
        busy_(Index(costed.topology.num_units), 0),
        queues_(Index(costed.num_devices)) {
    for (std::size_t at = 0; at < place_.size(); ++at) place_[Index(assignment.sequence[at])] = static_cast<int>(at);
    for (std::size_t t = 0; t < costed.tensors.size(); ++t) {
      if (costed.tensors[t].producer < 0) continue;
      made_[Index(costed.tensors[t].producer)].push_back(t);
      for (const std::int32_t reader : costed.Readers(costed.tensors[t])) ++missing_[Index(reader)];
    }
    channel_free_.assign(costed.topology.NumChannels(), 0.0);
    timeline_.start.assign(place_.size(), 0.0);
    timeline_.finish.assign(place_.size(), 0.0);
  }

  Timeline Run() {
    for (const int group : assignment_.sequence) {
      if (missing_[Index(group)] == 0) events_.push({0, Event::kReady, place_[Index(group)]});
    }
    while (!events_.empty()) {
      const double now = events_.top().time;
      while (!events_.empty() && events_.top().time == now) {
        const Event event = events_.top();
        events_.pop();
        if (event.kind == Event::kCross) {
          Cross(event.place, now);
          continue;
        }
        const int group = assignment_.sequence[Index(event.place)];
        if (event.kind == Event::kFinish) {
          End(group, now);
        } else {
          queues_[Index(DeviceOf(group))].push({now, event.place});
        }
      }
      while (StartOne(now)) {
      }
    }
    return std::move(timeline_);
  }

 private:
  struct Event {
    enum Kind { kFinish, kCross, kReady };

    double time;
    Kind kind;
    int place;  // of the group in the sequence; of a transfer, to an entry channel, in crossings_

    bool operator>(const Event& other) const {
      return std::tie(time, kind, place) > std::tie(other.time, other.kind, other.place);
    }
  };
  using Waiting = std::pair<double, int>;  // since when, place in the sequence
  struct Reader {
    std::int32_t memory;
    int place;
    std::int32_t group;
  };

  struct Crossing {
    std::int32_t entry;
    double seconds;
    std::vector<std::int32_t> readers;
  };

  int DeviceOf(int group) const { return assignment_.placement[Index(group)]; }

  bool StartOne(double now) {
    int best = -1;
    for (int device = 0; device < costed_.num_devices; ++device) {
      const auto& queue = queues_[Index(device)];
      if (queue.empty() || (best >= 0 && queue.top() > queues_[Index(best)].top())) continue;
      const std::span<const std::int32_t> units = costed_.topology.UnitsAt(device);
      if (std::none_of(units.begin(), units.end(), [this](std::int32_t unit) { return busy_[Index(unit)] != 0; }))
        best = device;
    }
    if (best < 0) return false;
    const int place = queues_[Index(best)].top().second;
    queues_[Index(best)].pop();
    const int group = assignment_.sequence[Index(place)];
    const double finish = now + costed_.Seconds(group, best);
    timeline_.start[Index(group)] = now;
    timeline_.finish[Index(group)] = finish;
    timeline_.makespan = std::max(timeline_.makespan, finish);
    for (const std::int32_t unit : costed_.topology.UnitsAt(best)) busy_[Index(unit)] = 1;
    events_.push({finish, Event::kFinish, place});
    return true;
  }

  void End(int group, double now) {
    for (const std::int32_t unit : costed_.topology.UnitsAt(DeviceOf(group))) busy_[Index(unit)] = 0;
    for (const std::size_t tensor : made_[Index(group)]) Send(costed_.tensors[tensor], now);
  }

  void Arrive(int group, double time) {
    double& ready = ready_[Index(group)];
    ready = std::max(ready, time);
    if (--missing_[Index(group)] == 0) events_.push({ready, Event::kReady, place_[Index(group)]});
  }

  void Send(const GroupTensor& tensor, double now) {
    const Topology& topology = costed_.topology;
    const int from = DeviceOf(tensor.producer);
    readers_.clear();
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      const int to = DeviceOf(reader);
      if (topology.proxy == Proxy::kLinear || topology.free[topology.Pair(from, to)] != 0) {
        Arrive(reader, now + costed_.TransferSeconds(tensor.bytes, from, to));
      } else {
        readers_.push_back({topology.memory_of[Index(to)], place_[Index(reader)], reader});
      }
    }
    std::sort(readers_.begin(), readers_.end(), [](const Reader& a, const Reader& b) {
      return std::tie(a.memory, a.place) < std::tie(b.memory, b.place);
    });
    for (std::size_t first = 0, last = 0; first < readers_.size(); first = last) {
      while (last < readers_.size() && readers_[last].memory == readers_[first].memory) ++last;
      const int to = DeviceOf(readers_[first].group);
      const std::size_t pair = topology.Pair(from, to);
      const double seconds = costed_.TransferSeconds(tensor.bytes, from, to);
      double& channel = channel_free_[Index(topology.channel[pair])];
      const double begin = std::max(channel, now);
      channel = begin + seconds;
      if (topology.EntryOf(pair) < 0) {
        for (std::size_t i = first; i < last; ++i) Arrive(readers_[i].group, channel);
        continue;
      }
      events_.push({begin, Event::kCross, static_cast<int>(crossings_.size())});
      crossings_.push_back({topology.EntryOf(pair), seconds, {}});
      for (std::size_t i = first; i < last; ++i) crossings_.back().readers.push_back(readers_[i].group);
    }
  }

  void Cross(int number, double now) {
    const Crossing& crossing = crossings_[Index(number)];
    double& entry = channel_free_[Index(crossing.entry)];
    entry = std::max(entry, now) + crossing.seconds;
    for (const std::int32_t reader : crossing.readers) Arrive(reader, entry);
  }

  const CostedGraph& costed_;
  const Assignment& assignment_;
  std::vector<int> place_;                      // by group
  std::vector<int> missing_;                    // by group: tensors that have not been sent to it
  std::vector<double> ready_;                   // by group: when the last of those sent arrives
  std::vector<std::vector<std::size_t>> made_;  // by group: places in costed.tensors
  std::vector<char> busy_;                      // by unit
  std::vector<double> channel_free_;
  std::vector<std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>> queues_;  // by device
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Reader> readers_;
  std::vector<Crossing> crossings_;  // as they were sent
  Timeline timeline_;
};

}  // namespace

Timeline GreedyTimeline(const CostedGraph& costed, const Assignment& assignment) {
  return GreedyExecution(costed, assignment).Run();
}

double Fragility(const CostedGraph& costed, const Assignment& assignment) {
  const double proxy = Simulator(costed).Makespan(assignment);
  return proxy > 0 ? GreedyTimeline(costed, assignment).makespan / proxy : 1;
}

}  // namespace millrace
