// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placed_list.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "millrace/graph/index.h"
#include "millrace/heuristics/group_tensors.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/simulate/contended_run.h"

namespace millrace {
namespace {

constexpr std::int32_t kChannels = -2;
constexpr std::int32_t kEntries = -1;

}  // namespace

class PlacedScheduler::Executor {
 public:
  explicit Executor(const CostedGraph& costed)
      : costed_(costed),
        positions_(TopologicalPositions(costed)),
        inputs_(Index(costed.num_groups)),
        least_rest_(inputs_.size()),
        devices_of_(Index(costed.topology.num_memories)),
        missing_(inputs_.size()),
        arrival_(inputs_.size()),
        unit_free_(Index(costed.topology.num_units)),
        unit_work_(unit_free_.size()),
        queues_(Index(costed.num_devices)) {
    for (int device = 0; device < costed.num_devices; ++device) devices_of_[Cluster(device)].push_back(device);
    if (costed.topology.proxy == Proxy::kContended) ShareChannels();
    for (std::int32_t group = 0; group < costed.num_groups; ++group) {
      inputs_[Index(group)] = static_cast<std::int32_t>(tensors_ ? InputsOf(group) : costed.Predecessors(group).size());
    }
    for (auto it = costed.topological_order.rbegin(); it != costed.topological_order.rend(); ++it) {
      double& rest = least_rest_[Index(*it)];
      for (const GroupEdge& edge : costed.Successors(*it)) rest = std::max(rest, least_rest_[Index(edge.group)]);
      rest += costed.fastest_seconds[Index(*it)];
    }
    schedule_.assignment.sequence.reserve(inputs_.size());
    schedule_.timeline.start.resize(inputs_.size());
    schedule_.timeline.finish.resize(inputs_.size());
  }

  const PlacedSchedule& Run(std::span<const int> placement, std::span<const double> priorities, double limit) {
    Begin(placement, priorities);
    while (!events_.empty() && bound_ <= limit) {
      // Everything that happens at one time in one cluster is known before anything starts there.
      const Event first = Take();
      if (first.cluster == kChannels) {
        SendAll(schedule_.assignment.sequence[Index(first.group)], first.time);
        continue;
      }
      if (first.cluster == kEntries) {
        Cross(entering_[Index(first.group)], first.time);
        continue;
      }
      Wait(first);
      while (!events_.empty() && events_.front().time == first.time && events_.front().cluster == first.cluster)
        Wait(Take());
      while (StartBest(first.cluster, first.time)) {
      }
    }
    if (bound_ > limit) schedule_.timeline.makespan = std::max(schedule_.timeline.makespan, bound_);
    return schedule_;
  }

 private:
  // A group whose inputs are there, waiting for its device. The greater one starts first.
  struct Waiting {
    double priority = 0;
    double since = 0;
    std::int32_t position = 0;  // topological
    std::int32_t group = 0;

    bool operator<(const Waiting& other) const {
      return std::tuple(priority, -since, -position) < std::tuple(other.priority, -other.since, -other.position);
    }
  };

  // Something happens at a cluster of devices: a group's inputs have arrived, or (group -1) units have become free. At
  // kChannels the group numbered by its place in the sequence has finished, and its tensors are sent; at kEntries a
  // transfer, numbered as they were sent, comes to its entry channel.
  struct Event {
    double time = 0;
    std::int32_t cluster = 0;
    std::int32_t group = -1;

    bool operator>(const Event& other) const {
      return std::tuple(time, cluster, group) > std::tuple(other.time, other.cluster, other.group);
    }
  };

  struct Entering {
    std::int32_t tensor = 0;  // place in CostedGraph::tensors
    int to = 0;
  };

  void Begin(std::span<const int> placement, std::span<const double> priorities) {
    placement_ = placement;
    priorities_ = priorities;
    schedule_.assignment.placement.assign(placement.begin(), placement.end());
    schedule_.assignment.sequence.clear();
    schedule_.timeline.makespan = 0;
    bound_ = 0;
    missing_ = inputs_;
    std::fill(arrival_.begin(), arrival_.end(), 0.0);
    std::fill(unit_free_.begin(), unit_free_.end(), 0.0);
    std::fill(unit_work_.begin(), unit_work_.end(), 0.0);
    std::fill(channel_free_.begin(), channel_free_.end(), 0.0);
    entering_.clear();
    events_.clear();
    for (auto& queue : queues_) queue.clear();
    for (std::int32_t group = 0; group < costed_.num_groups; ++group) {
      const int device = placement_[Index(group)];
      for (const std::int32_t unit : costed_.topology.UnitsAt(device))
        unit_work_[Index(unit)] += costed_.Seconds(group, device);
      if (missing_[Index(group)] == 0) Expect({0, ClusterOf(group), group});
    }
  }

  void Expect(const Event& event) {
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
  }

  Event Take() {
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    const Event event = events_.back();
    events_.pop_back();
    return event;
  }

  // The group of an event, if there is one.
  void Wait(const Event& event) {
    if (event.group < 0) return;
    const double priority = priorities_.empty() ? 0.0 : priorities_[Index(event.group)];
    std::vector<Waiting>& queue = queues_[Index(placement_[Index(event.group)])];
    queue.push_back({priority, event.time, positions_[Index(event.group)], event.group});
    std::push_heap(queue.begin(), queue.end());
  }

  // Devices that share a unit, also through a third, share a memory, and nothing else makes them.
  std::size_t Cluster(int device) const { return Index(costed_.topology.memory_of[Index(device)]); }
  std::int32_t ClusterOf(std::int32_t group) const {
    return costed_.topology.memory_of[Index(placement_[Index(group)])];
  }

  bool StartBest(std::int32_t cluster, double now) {
    int best = -1;
    for (const int device : devices_of_[Index(cluster)]) {
      const auto& queue = queues_[Index(device)];
      if (queue.empty() || (best >= 0 && !(queues_[Index(best)].front() < queue.front()))) continue;
      const std::span<const std::int32_t> units = costed_.topology.UnitsAt(device);
      if (std::all_of(units.begin(), units.end(), [this, now](std::int32_t u) { return unit_free_[Index(u)] <= now; }))
        best = device;
    }
    if (best < 0) return false;
    std::vector<Waiting>& queue = queues_[Index(best)];
    const std::int32_t group = queue.front().group;
    std::pop_heap(queue.begin(), queue.end());
    queue.pop_back();
    Start(group, best, now);
    return true;
  }

  void Start(std::int32_t group, int device, double now) {
    const double seconds = costed_.Seconds(group, device);
    const double finish = now + seconds;
    bound_ = std::max(bound_, (now + least_rest_[Index(group)]) * kBelowRounding);
    schedule_.assignment.sequence.push_back(group);
    schedule_.timeline.start[Index(group)] = now;
    schedule_.timeline.finish[Index(group)] = finish;
    schedule_.timeline.makespan = std::max(schedule_.timeline.makespan, finish);
    for (const std::int32_t unit : costed_.topology.UnitsAt(device)) {
      bound_ = std::max(bound_, (now + unit_work_[Index(unit)]) * kBelowRounding);
      unit_free_[Index(unit)] = finish;
      unit_work_[Index(unit)] -= seconds;
    }
    if (finish > now) Expect({finish, static_cast<std::int32_t>(Cluster(device)), -1});
    if (tensors_) {
      Expect({finish, kChannels, static_cast<std::int32_t>(schedule_.assignment.sequence.size()) - 1});
      return;
    }
    for (const GroupEdge& edge : costed_.Successors(group)) {
      double& arrival = arrival_[Index(edge.group)];
      arrival = std::max(arrival, finish + costed_.TransferSeconds(edge.bytes, device, placement_[Index(edge.group)]));
      if (--missing_[Index(edge.group)] == 0) Expect({arrival, ClusterOf(edge.group), edge.group});
    }
  }

  void ShareChannels() {
    tensors_.emplace(costed_);
    channel_free_.assign(costed_.topology.NumChannels(), 0.0);
    first_reader_.assign(devices_of_.size(), -1);
  }

  std::size_t InputsOf(std::int32_t group) const {
    const std::span<const std::int32_t> read = tensors_->ReadBy(group);
    return static_cast<std::size_t>(std::count_if(read.begin(), read.end(), [this](std::int32_t tensor) {
      return costed_.tensors[Index(tensor)].producer >= 0;
    }));
  }

  void Arrive(std::int32_t group, double time) {
    double& arrival = arrival_[Index(group)];
    arrival = std::max(arrival, time);
    if (--missing_[Index(group)] == 0) Expect({arrival, ClusterOf(group), group});
  }

  // Which reader in a memory is the first is not known yet; the one of the highest priority stands for it.
  bool GoesBefore(std::int32_t a, std::int32_t b) const {
    const double first = priorities_.empty() ? 0.0 : priorities_[Index(a)];
    const double second = priorities_.empty() ? 0.0 : priorities_[Index(b)];
    return first != second ? first > second : positions_[Index(a)] < positions_[Index(b)];
  }

  // As simulate/contention.h has it.
  void SendAll(std::int32_t group, double time) {
    const Topology& topology = costed_.topology;
    const int from = placement_[Index(group)];
    for (const std::int32_t made : tensors_->MadeBy(group)) {
      const GroupTensor& tensor = costed_.tensors[Index(made)];
      for (const std::int32_t reader : costed_.Readers(tensor)) {
        if (topology.free[topology.Pair(from, placement_[Index(reader)])] != 0) {
          Arrive(reader, time);
          continue;
        }
        std::int32_t& first = first_reader_[Index(ClusterOf(reader))];
        if (first < 0 || GoesBefore(reader, first)) first = reader;
      }
      for (std::size_t memory = 0; memory < first_reader_.size(); ++memory) {
        if (first_reader_[memory] < 0) continue;
        const int to = placement_[Index(first_reader_[memory])];
        first_reader_[memory] = -1;
        const std::size_t pair = topology.Pair(from, to);
        double& channel = channel_free_[Index(topology.channel[pair])];
        const double begin = std::max(channel, time);
        channel = begin + costed_.TransferSeconds(tensor.bytes, from, to);
        if (topology.EntryOf(pair) < 0) {
          ArriveAtReaders(tensor, to, channel);
        } else {
          Expect({begin, kEntries, static_cast<std::int32_t>(entering_.size())});
          entering_.push_back({made, to});
        }
      }
    }
  }

  void Cross(const Entering& entering, double time) {
    const GroupTensor& tensor = costed_.tensors[Index(entering.tensor)];
    const int from = placement_[Index(tensor.producer)];
    double& entry = channel_free_[Index(costed_.topology.EntryOf(costed_.topology.Pair(from, entering.to)))];
    entry = std::max(entry, time) + costed_.TransferSeconds(tensor.bytes, from, entering.to);
    ArriveAtReaders(tensor, entering.to, entry);
  }

  // Those that wait for what was sent to the device.
  void ArriveAtReaders(const GroupTensor& tensor, int to, double time) {
    const Topology& topology = costed_.topology;
    const int from = placement_[Index(tensor.producer)];
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      const bool there = Index(ClusterOf(reader)) == Cluster(to);
      if (there && topology.free[topology.Pair(from, placement_[Index(reader)])] == 0) Arrive(reader, time);
    }
  }

  const CostedGraph& costed_;
  const std::vector<int> positions_;
  std::vector<std::int32_t> inputs_;          // by group: predecessors, or tensors that it reads from other groups
  std::vector<double> least_rest_;            // by group: from its start to the end, were transfers free
  std::vector<std::vector<int>> devices_of_;  // by cluster

  // Of the placement.
  std::span<const int> placement_;
  std::span<const double> priorities_;
  double bound_ = 0;                   // the timeline ends no sooner
  std::vector<std::int32_t> missing_;  // by group: predecessors that have not started, or tensors not sent
  std::vector<double> arrival_;        // by group: of its inputs, of those known
  std::vector<double> unit_free_;
  std::vector<double> unit_work_;             // by unit: seconds of its groups that have not started
  std::vector<std::vector<Waiting>> queues_;  // by device: heaps
  std::vector<Event> events_;                 // a heap, the next first
  PlacedSchedule schedule_;

  // Where the proxy is the contended one.
  std::optional<GroupTensors> tensors_;
  std::vector<double> channel_free_;
  std::vector<Entering> entering_;
  std::vector<std::int32_t> first_reader_;  // by memory, of the tensor that is sent; -1: none
};

PlacedScheduler::PlacedScheduler(const CostedGraph& costed) : executor_(std::make_unique<Executor>(costed)) {}

PlacedScheduler::~PlacedScheduler() = default;

const PlacedSchedule& PlacedScheduler::Schedule(std::span<const int> placement, std::span<const double> priorities,
                                                double limit) {
  return executor_->Run(placement, priorities, limit);
}

PlacedSchedule SchedulePlaced(const CostedGraph& costed, std::span<const int> placement,
                              std::span<const double> priorities) {
  return PlacedScheduler(costed).Schedule(placement, priorities);
}

std::vector<double> PrioritiesInOrder(std::span<const int> sequence) {
  std::vector<double> priorities(sequence.size());
  for (std::size_t at = 0; at < sequence.size(); ++at)
    priorities[static_cast<std::size_t>(sequence[at])] = -static_cast<double>(at);
  return priorities;
}

}  // namespace millrace
