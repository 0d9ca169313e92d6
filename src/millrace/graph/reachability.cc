// SPDX-License-Identifier: Apache-2.0
#include "millrace/graph/reachability.h"

#include <algorithm>
#include <limits>

namespace millrace {

Reachability::Reachability(const ComputationGraph& graph)
    : graph_(graph), position_(static_cast<std::size_t>(graph.num_ops())), mark_(position_.size(), -1) {
  int next = 0;
  for (const OpId op : graph.topological_order()) position_[static_cast<std::size_t>(op)] = next++;
}

bool Reachability::Convex(std::span<const OpId> ops) {
  if (question_ == std::numeric_limits<int>::max() / 2) {
    std::fill(mark_.begin(), mark_.end(), -1);
    question_ = 0;
  }
  const int inside = 2 * question_;
  const int outside = 2 * question_ + 1;
  ++question_;
  int last = -1;
  for (const OpId op : ops) {
    mark_[static_cast<std::size_t>(op)] = inside;
    last = std::max(last, position(op));
  }
  stack_.clear();
  const auto visit_successors = [&](OpId op, bool from_outside) {
    for (const OpId successor : graph_.Successors(op)) {
      int& mark = mark_[static_cast<std::size_t>(successor)];
      if (mark == inside) {
        if (from_outside) return false;
      } else if (mark != outside && position(successor) < last) {
        mark = outside;
        stack_.push_back(successor);
      }
    }
    return true;
  };
  for (const OpId op : ops) visit_successors(op, false);
  while (!stack_.empty()) {
    const OpId op = stack_.back();
    stack_.pop_back();
    if (!visit_successors(op, true)) return false;
  }
  return true;
}

}  // namespace millrace
