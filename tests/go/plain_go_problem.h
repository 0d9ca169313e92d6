// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "millrace/go/problem.h"
#include "millrace/plan/fusion_table.h"
#include "tests/reference/plain_problem.h"

// What a GoProblem knows of its ops, by the plainest formulas: from the graph, the costed graph and the order of the
// rows alone, nothing kept from one call to the next. Tests hold GO's features against it. Seconds, bytes.
namespace millrace::testing {

inline constexpr int kMostPlainOps = 10;  // the formulas look at every path

struct PlainGoProblem : PlainProblem {
  explicit PlainGoProblem(const GoProblem& of) : PlainProblem(of.costed()), problem(of), graph(of.graph()) {}

  OpId OpOf(int row) const { return problem.order()[Index(row)]; }
  int rows() const { return static_cast<int>(problem.order().size()); }

  // The longest path to the op, its own seconds left out.
  double Down(OpId op) const {
    double longest = 0;
    for (const GroupEdge& edge : costed.Predecessors(op))
      longest = std::max(longest, Down(edge.group) + Mean(edge.group) + Transfer(edge.bytes));
    return longest;
  }
  double Path() const {
    double longest = 0;
    for (OpId op = 0; op < rows(); ++op) longest = std::max(longest, Rank(op));
    return longest;
  }
  double Depth(OpId op) const {
    double depth = 0;
    for (const GroupEdge& edge : costed.Predecessors(op)) depth = std::max(depth, Depth(edge.group) + 1);
    return depth;
  }

  // Share of an op in all work; where nothing takes any time every op counts alike.
  double Work(OpId op) const {
    double all = 0;
    for (OpId other = 0; other < rows(); ++other) all += Mean(other);
    return all > 0 ? Mean(op) / all : 1.0 / rows();
  }
  double WorkBefore(int row) const {
    double before = Work(OpOf(row)) / 2;
    for (int other = 0; other < row; ++other) before += Work(OpOf(other));
    return before;
  }

  // The layer an op states, else that of the maker of its largest input that has one.
  std::optional<int> LayerFromAbove(OpId op) const {
    if (graph.op(op).layer) return graph.op(op).layer;
    std::optional<std::pair<double, int>> best;
    for (const GroupEdge& edge : costed.Predecessors(op)) {
      const std::optional<int> layer = LayerFromAbove(edge.group);
      if (layer) best = std::max(best, std::optional(std::pair(edge.bytes, *layer)));
    }
    return best ? std::optional(best->second) : std::nullopt;
  }
  // The same, else that of the reader of its largest output that has one.
  std::optional<int> Layer(OpId op) const {
    if (const std::optional<int> layer = LayerFromAbove(op)) return layer;
    std::optional<std::pair<double, int>> best;
    for (const GroupEdge& edge : costed.Successors(op)) {
      const std::optional<int> layer = Layer(edge.group);
      if (layer) best = std::max(best, std::optional(std::pair(edge.bytes, *layer)));
    }
    return best ? std::optional(best->second) : std::nullopt;
  }
  double Progress(int row) const {
    std::optional<int> lowest;
    for (const Op& op : graph.ops()) {
      if (op.layer) lowest = std::min(lowest.value_or(*op.layer), *op.layer);
    }
    if (!lowest) return WorkBefore(row);
    const int own = Layer(OpOf(row)).value_or(*lowest);
    double before = 0;
    for (OpId op = 0; op < rows(); ++op) {
      const int layer = Layer(op).value_or(*lowest);
      before += layer < own ? Work(op) : layer == own ? Work(op) / 2 : 0;
    }
    return before;
  }

  bool Fusible(OpId op) const {
    const std::span<const OpId> producers = graph.Predecessors(op);
    const bool joins = std::any_of(producers.begin(), producers.end(), [this](OpId producer) {
      return FusionRoleOf(graph.op(producer).type) != FusionRole::kAlone;
    });
    return joins && FusionRoleOf(graph.op(op).type) == FusionRole::kElementwise;
  }

  // Share of all ops of a lower upward rank, those of an equal one counting half.
  double Urgency(OpId op) const {
    double below = 0;
    for (OpId other = 0; other < rows(); ++other) below += Below(Rank(other), Rank(op));
    return below / rows();
  }
  // Share of all fusible ops of a smaller largest input, those of an equal one counting half.
  double Saving(OpId op) const {
    double below = 0, fusible = 0;
    for (OpId other = 0; other < rows(); ++other) {
      if (!Fusible(other)) continue;
      below += Below(LargestInput(other), LargestInput(op));
      fusible += 1;
    }
    return below / fusible;
  }
  double LargestInput(OpId op) const {
    double largest = 0;
    for (const GroupEdge& edge : costed.Predecessors(op)) largest = std::max(largest, edge.bytes);
    return largest;
  }
  // 1, 1/2 or 0; two formulas for one rank may differ by rounding.
  static double Below(double a, double b) { return std::abs(a - b) < 1e-9 ? 0.5 : a < b ? 1 : 0; }

  double Colocated(OpId op) const {
    const std::string& name = graph.op(op).colocate;
    double together = 0;
    for (OpId other = 0; other < rows(); ++other)
      together += other == op || (!name.empty() && graph.op(other).colocate == name) ? 1 : 0;
    return together;
  }

  // Where the device stands among all.
  double Fraction(int device) const { return (device + 0.5) / costed.num_devices; }

  // Memory that the device has; infinity: no limit.
  double Memory(int device) const {
    return costed.topology.memory_bytes[Index(costed.topology.memory_of[Index(device)])];
  }

  // 0 where the memory has no limit.
  static double Fullness(double bytes, double memory) {
    if (bytes <= 0 || std::isinf(memory)) return 0;
    return Squashed(memory > 0 ? std::min(bytes / memory, 1e6) : 1e6);
  }

  double Scaled(double seconds) const { return Squashed(seconds / scale); }
  static double Share(double part, double whole, double otherwise) { return whole > 0 ? part / whole : otherwise; }

  const GoProblem& problem;
  const ComputationGraph& graph;
};

}  // namespace millrace::testing
