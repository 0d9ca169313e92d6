// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placed_schedule.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// What waits for one device, by group: not arrived yet, the next to arrive on top; arrived, the first to go on top.
struct DeviceQueues {
  using Arriving = std::pair<double, int>;  // when, topological position
  using Arrived = std::pair<double, int>;   // priority, minus topological position
  std::priority_queue<Arriving, std::vector<Arriving>, std::greater<>> arriving;
  std::priority_queue<Arrived> arrived;
};

class ReadyQueues {
 public:
  // With first_come a group's priority is how early its inputs arrived.
  ReadyQueues(const CostedGraph& costed, const std::vector<int>& placement, std::span<const double> priorities,
              bool first_come)
      : costed_(costed),
        placement_(placement),
        priorities_(priorities),
        first_come_(first_come),
        position_(TopologicalPositions(costed)),
        queues_(static_cast<std::size_t>(costed.num_devices)),
        unit_free_(static_cast<std::size_t>(costed.topology.num_units), 0.0),
        finish_(static_cast<std::size_t>(costed.num_groups), 0.0) {}

  std::vector<int> Run() {
    std::vector<std::int32_t> waiting(static_cast<std::size_t>(costed_.num_groups));
    for (int group = 0; group < costed_.num_groups; ++group) {
      waiting[static_cast<std::size_t>(group)] = static_cast<std::int32_t>(costed_.Predecessors(group).size());
      if (waiting[static_cast<std::size_t>(group)] == 0) Enqueue(group);
    }
    std::vector<int> sequence;
    sequence.reserve(static_cast<std::size_t>(costed_.num_groups));
    while (sequence.size() < static_cast<std::size_t>(costed_.num_groups)) {
      const int group = StartNext();
      sequence.push_back(group);
      for (const GroupEdge& edge : costed_.Successors(group)) {
        if (--waiting[static_cast<std::size_t>(edge.group)] == 0) Enqueue(edge.group);
      }
    }
    return sequence;
  }

 private:
  int PlaceOf(int group) const { return placement_[static_cast<std::size_t>(group)]; }

  void Enqueue(int group) {
    const int device = PlaceOf(group);
    double arrival = 0;
    for (const GroupEdge& edge : costed_.Predecessors(group)) {
      arrival = std::max(arrival, finish_[static_cast<std::size_t>(edge.group)] +
                                      costed_.TransferSeconds(edge.bytes, PlaceOf(edge.group), device));
    }
    queues_[static_cast<std::size_t>(device)].arriving.push({arrival, position_[static_cast<std::size_t>(group)]});
  }

  double Free(int device) const {
    double free = 0;
    for (auto u = costed_.topology.device_offsets[static_cast<std::size_t>(device)];
         u < costed_.topology.device_offsets[static_cast<std::size_t>(device) + 1]; ++u) {
      free = std::max(free,
                      unit_free_[static_cast<std::size_t>(costed_.topology.device_units[static_cast<std::size_t>(u)])]);
    }
    return free;
  }

  void LetIn(DeviceQueues& queues, double now) {
    while (!queues.arriving.empty() && queues.arriving.top().first <= now) {
      const auto [arrival, position] = queues.arriving.top();
      const int group = costed_.topological_order[static_cast<std::size_t>(position)];
      queues.arrived.push({first_come_ ? -arrival : priorities_[static_cast<std::size_t>(group)], -position});
      queues.arriving.pop();
    }
  }

  // Starts never go back in time: what a start makes ready arrives after it.
  int StartNext() {
    double first = kNever;
    int next = -1;
    for (int device = 0; device < costed_.num_devices; ++device) {
      const DeviceQueues& queues = queues_[static_cast<std::size_t>(device)];
      if (queues.arrived.empty() && queues.arriving.empty()) continue;
      const double arrival = queues.arrived.empty() ? queues.arriving.top().first : 0.0;
      const double start = std::max(Free(device), arrival);
      if (start < first) {
        first = start;
        next = device;
      }
    }
    DeviceQueues& queues = queues_[static_cast<std::size_t>(next)];
    LetIn(queues, first);
    const int group = costed_.topological_order[static_cast<std::size_t>(-queues.arrived.top().second)];
    queues.arrived.pop();
    const double finish = first + costed_.Seconds(group, next);
    finish_[static_cast<std::size_t>(group)] = finish;
    for (auto u = costed_.topology.device_offsets[static_cast<std::size_t>(next)];
         u < costed_.topology.device_offsets[static_cast<std::size_t>(next) + 1]; ++u) {
      unit_free_[static_cast<std::size_t>(costed_.topology.device_units[static_cast<std::size_t>(u)])] = finish;
    }
    return group;
  }

  const CostedGraph& costed_;
  const std::vector<int>& placement_;
  std::span<const double> priorities_;
  bool first_come_;
  std::vector<int> position_;
  std::vector<DeviceQueues> queues_;
  std::vector<double> unit_free_;
  std::vector<double> finish_;
};

}  // namespace

Assignment ScheduleOnPlacement(const CostedGraph& costed, std::vector<int> placement,
                               std::span<const double> priorities) {
  Assignment assignment;
  assignment.placement = std::move(placement);
  assignment.sequence = ReadyQueues(costed, assignment.placement, priorities, false).Run();
  return assignment;
}

std::vector<double> RankPriorities(const CostedGraph& costed) {
  return UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology));
}

Assignment ScheduleByReadiness(const CostedGraph& costed, std::vector<int> placement) {
  Assignment assignment;
  assignment.placement = std::move(placement);
  assignment.sequence = ReadyQueues(costed, assignment.placement, {}, true).Run();
  return assignment;
}

}  // namespace millrace
