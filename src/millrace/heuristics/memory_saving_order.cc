// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/memory_saving_order.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>

#include "millrace/heuristics/group_tensors.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

// Ready groups with what each would leave behind, kept up to date as others are taken.
class MemorySavingQueue {
 public:
  MemorySavingQueue(const CostedGraph& costed, MemorySavingRule rule)
      : costed_(costed), rule_(rule), tensors_(costed), position_(TopologicalPositions(costed)) {
    const auto groups = static_cast<std::size_t>(costed.num_groups);
    increase_.assign(groups, 0.0);
    turn_.assign(groups, kNotReady);
    taken_.assign(groups, 0);
    for (const GroupTensor& tensor : costed.tensors) unread_.push_back(tensor.num_readers);
    for (std::size_t t = 0; t < costed.tensors.size(); ++t) {
      const GroupTensor& tensor = costed.tensors[t];
      const bool stays = tensor.output || tensor.num_readers > 0;
      if (tensor.producer >= 0 && stays) increase_[static_cast<std::size_t>(tensor.producer)] += tensor.bytes;
      if (unread_[t] == 1) LetLastReaderFree(t);
    }
    for (int group = 0; group < costed.num_groups; ++group)
      waiting_.push_back(static_cast<std::int32_t>(costed.Predecessors(group).size()));
    // The last to become ready goes first, so the first in topological order is let in last.
    for (auto group = costed.topological_order.rbegin(); group != costed.topological_order.rend(); ++group) {
      if (costed.Predecessors(*group).empty()) LetIn(*group);
    }
  }

  int Pop() {
    while (taken_[static_cast<std::size_t>(GroupOf(heap_.top()))] != 0) heap_.pop();  // an entry made out of date
    const int group = GroupOf(heap_.top());
    heap_.pop();
    taken_[static_cast<std::size_t>(group)] = 1;
    for (const std::int32_t tensor : tensors_.ReadBy(group)) {
      const auto t = static_cast<std::size_t>(tensor);
      if (--unread_[t] == 1) LetLastReaderFree(t);
    }
    const auto successors = costed_.Successors(group);
    for (auto edge = successors.rbegin(); edge != successors.rend(); ++edge) {
      if (--waiting_[static_cast<std::size_t>(edge->group)] == 0) LetIn(edge->group);
    }
    return group;
  }

 private:
  static constexpr int kNotReady = -1;

  // Increase, minus the turn in which it became ready, position: the least is taken.
  using Entry = std::tuple<double, int, int>;

  int GroupOf(const Entry& entry) const {
    return costed_.topological_order[static_cast<std::size_t>(std::get<2>(entry))];
  }

  void Push(int group) {
    const auto g = static_cast<std::size_t>(group);
    heap_.push({rule_ == MemorySavingRule::kLeastIncrease ? increase_[g] : 0.0, -turn_[g], position_[g]});
  }

  void LetIn(int group) {
    turn_[static_cast<std::size_t>(group)] = next_turn_++;
    Push(group);
  }

  // One reader is left. Its increase only falls, so its older entries come later in the heap.
  void LetLastReaderFree(std::size_t tensor) {
    if (costed_.tensors[tensor].output) return;
    for (const std::int32_t reader : costed_.Readers(costed_.tensors[tensor])) {
      const auto r = static_cast<std::size_t>(reader);
      if (taken_[r] != 0) continue;
      increase_[r] -= costed_.tensors[tensor].bytes;
      if (turn_[r] != kNotReady) Push(reader);
      return;
    }
  }

  const CostedGraph& costed_;
  MemorySavingRule rule_;
  GroupTensors tensors_;
  std::vector<int> position_;
  std::vector<double> increase_;       // by group
  std::vector<int> turn_;              // by group
  std::vector<std::uint8_t> taken_;    // by group
  std::vector<std::int32_t> unread_;   // readers not taken, by tensor
  std::vector<std::int32_t> waiting_;  // predecessors not taken, by group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  int next_turn_ = 0;
};

}  // namespace

std::vector<int> MemorySavingOrder(const CostedGraph& costed, MemorySavingRule rule) {
  MemorySavingQueue queue(costed, rule);
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(costed.num_groups));
  for (int i = 0; i < costed.num_groups; ++i) order.push_back(queue.Pop());
  return order;
}

}  // namespace millrace
