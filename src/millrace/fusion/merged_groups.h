// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/fusion/fusion_problem.h"

// Fusion groups that grow by merging two of them at a time, and stay legal all the while: every group satisfies the
// fusion table, all of them together keep an order, and each has a device left.
namespace millrace {

// Groups are named by one of their ops. Every op is single at first, but for those of kept groups. One object serves
// one thread; only the constructor, copying and groups() allocate. A question takes time by the edges of the ops around
// the two groups, never by the size of the graph. The problem must outlive it.
class MergedGroups {
 public:
  // Merging is refused where more edges than these would have to be looked at to know that the groups keep an order.
  static constexpr int kMostLooks = 1024;

  explicit MergedGroups(const FusionProblem& problem);

  void Clear();

  const FusionProblem& problem() const { return *problem_; }
  OpId GroupOf(OpId op) const { return group_[static_cast<std::size_t>(op)]; }
  int Size(OpId group) const { return sizes_[static_cast<std::size_t>(group)]; }

  // Makes these two groups, which an edge joins from `first` to `second`, those the next questions are about. False
  // where their sizes or anchors forbid one group.
  bool Propose(OpId first, OpId second);

  // The ops of both, in execution order.
  std::span<const OpId> union_ops() const { return union_; }

  // May they become one, all other rules considered?
  bool Legal();

  // Joins them, under the name of the first. Only right after Legal() said so.
  void Merge();

  // By first op in topological order, ops in execution order: valid groups that have an order.
  FusionGroups groups() const;

 private:
  template <typename Visit>
  void ForEachOp(OpId group, Visit visit) const;
  std::int32_t& Slot(OpId group) { return slots_[static_cast<std::size_t>(group)]; }
  OpId ColocationRoot(OpId op);
  bool HidesAnOutput() const;
  bool LeavesADevice(OpId first, OpId second);
  bool KeepsAnOrder(OpId first, OpId second);
  template <bool kForward>
  bool Look(OpId group, OpId from, OpId to);
  void Reorder(OpId first, OpId second);
  void Join(OpId first, OpId second);

  const FusionProblem* problem_;
  OpId first_ = 0, second_ = 0;          // those proposed
  std::vector<OpId> group_;              // by op
  std::vector<OpId> ring_;               // by op: the next of its group, around
  std::vector<std::int32_t> sizes_;      // by group
  std::vector<OpId> anchor_;             // by group; -1: none
  std::vector<std::int32_t> slots_;      // by group: its place in an order of all groups
  std::vector<OpId> colocation_parent_;  // by op
  std::vector<char> open_;               // by colocation * devices + device
  std::vector<OpId> union_, sorted_;     // of those proposed
  std::vector<OpId> later_, earlier_;    // groups that merging them moves up and down the order
  std::vector<std::int32_t> marks_, pool_;
  std::int32_t mark_ = 0;
  int looks_ = 0;
};

}  // namespace millrace
