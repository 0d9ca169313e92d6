// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/graph/computation_graph.h"

// Which ops can be reached from which: asked when a set of ops is to become one fusion group.
namespace millrace {

// Answers convexity questions on one graph. Keeps a workspace, so one object serves one thread; the graph must outlive
// it. Cost of a question: the ops whose topological position lies between the first and last of the set.
class Reachability {
 public:
  explicit Reachability(const ComputationGraph& graph);

  // Is the set convex: does no path leave it and come back? `ops` in any order, none twice.
  bool Convex(std::span<const OpId> ops);

  // Position of an op in graph.topological_order().
  int position(OpId op) const { return position_[static_cast<std::size_t>(op)]; }

 private:
  const ComputationGraph& graph_;
  std::vector<int> position_;
  std::vector<int> mark_;  // the question's number: 2 * n in the set, 2 * n + 1 reached from it outside
  std::vector<OpId> stack_;
  int question_ = 0;
};

}  // namespace millrace
