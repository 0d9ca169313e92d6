// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/upward_rank.h"

// The groups whose predecessors are all done, the one of highest priority first.
namespace millrace {

// Equal priorities leave in topological order.
class ReadyQueue {
 public:
  // `costed` must outlive the queue. Priorities by group.
  ReadyQueue(const CostedGraph& costed, std::vector<double> priorities)
      : costed_(costed), priorities_(std::move(priorities)), position_(TopologicalPositions(costed)) {
    waiting_.reserve(static_cast<std::size_t>(costed.num_groups));
    for (int group = 0; group < costed.num_groups; ++group) {
      waiting_.push_back(static_cast<std::int32_t>(costed.Predecessors(group).size()));
      if (waiting_.back() == 0) Push(group);
    }
  }

  bool empty() const { return heap_.empty(); }

  // Takes out the first group and lets in the successors that waited only for it.
  int Pop() {
    const int group = costed_.topological_order[static_cast<std::size_t>(-heap_.top().second)];
    heap_.pop();
    for (const GroupEdge& edge : costed_.Successors(group)) {
      if (--waiting_[static_cast<std::size_t>(edge.group)] == 0) Push(edge.group);
    }
    return group;
  }

 private:
  void Push(int group) {
    heap_.push({priorities_[static_cast<std::size_t>(group)], -position_[static_cast<std::size_t>(group)]});
  }

  const CostedGraph& costed_;
  std::vector<double> priorities_;
  std::vector<int> position_;
  std::vector<std::int32_t> waiting_;
  std::priority_queue<std::pair<double, int>> heap_;  // priority, minus topological position
};

}  // namespace millrace
