// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/merged_groups.h"

#include <algorithm>
#include <utility>

#include "millrace/plan/fusion_table.h"

namespace millrace {

MergedGroups::MergedGroups(const FusionProblem& problem)
    : problem_(&problem),
      group_(static_cast<std::size_t>(problem.graph().num_ops())),
      ring_(group_.size()),
      sizes_(group_.size()),
      anchor_(group_.size()),
      slots_(group_.size()),
      colocation_parent_(group_.size()),
      open_(group_.size() * static_cast<std::size_t>(problem.num_devices())),
      marks_(group_.size()) {
  union_.reserve(kMostOpsPerGroup);
  sorted_.reserve(kMostOpsPerGroup);
  later_.reserve(group_.size());
  earlier_.reserve(group_.size());
  pool_.reserve(group_.size() + 2);
  Clear();
}

void MergedGroups::Clear() {
  mark_ = 2;
  std::fill(marks_.begin(), marks_.end(), 0);
  const auto devices = static_cast<std::ptrdiff_t>(problem_->num_devices());
  for (OpId op = 0; op < problem_->graph().num_ops(); ++op) {
    const auto i = static_cast<std::size_t>(op);
    group_[i] = ring_[i] = op;
    sizes_[i] = 1;
    anchor_[i] = problem_->anchor(op) ? op : -1;
    slots_[i] = problem_->slot(op);
    colocation_parent_[i] = problem_->colocation(op);
    const std::span<const char> open = problem_->Open(op);
    std::copy(open.begin(), open.end(), open_.begin() + static_cast<std::ptrdiff_t>(op) * devices);
  }
  for (const std::vector<OpId>& group : problem_->kept()) {
    for (const OpId op : group) {
      if (op != group.front()) Join(group.front(), op);
    }
  }
}

// The union has the first one's name. Its slot is the caller's business.
void MergedGroups::Join(OpId first, OpId second) {
  const OpId colocation = ColocationRoot(first);
  const OpId other = ColocationRoot(second);
  if (colocation != other) {
    const auto devices = static_cast<std::size_t>(problem_->num_devices());
    for (std::size_t device = 0; device < devices; ++device)
      open_[static_cast<std::size_t>(colocation) * devices + device] &=
          open_[static_cast<std::size_t>(other) * devices + device];
    colocation_parent_[static_cast<std::size_t>(other)] = colocation;
  }
  ForEachOp(second, [this, first](OpId op) { group_[static_cast<std::size_t>(op)] = first; });
  std::swap(ring_[static_cast<std::size_t>(first)], ring_[static_cast<std::size_t>(second)]);
  sizes_[static_cast<std::size_t>(first)] += sizes_[static_cast<std::size_t>(second)];
  if (anchor_[static_cast<std::size_t>(first)] < 0)
    anchor_[static_cast<std::size_t>(first)] = anchor_[static_cast<std::size_t>(second)];
}

bool MergedGroups::Propose(OpId first, OpId second) {
  if (Size(first) + Size(second) > static_cast<int>(kMostOpsPerGroup)) return false;
  const OpId anchor = anchor_[static_cast<std::size_t>(second)];
  if (anchor >= 0) {
    if (anchor_[static_cast<std::size_t>(first)] >= 0) return false;
    for (const OpId producer : problem_->graph().Predecessors(anchor)) {
      if (GroupOf(producer) == first) return false;
    }
  }
  first_ = first;
  second_ = second;
  union_.clear();
  ForEachOp(first, [this](OpId op) { union_.push_back(op); });
  ForEachOp(second, [this](OpId op) { union_.push_back(op); });
  std::sort(union_.begin(), union_.end(),
            [this](OpId a, OpId b) { return problem_->position(a) < problem_->position(b); });
  return true;
}

bool MergedGroups::Legal() {
  return !HidesAnOutput() && LeavesADevice(first_, second_) && KeepsAnOrder(first_, second_);
}

void MergedGroups::Merge() {
  Reorder(first_, second_);
  Join(first_, second_);
}

FusionGroups MergedGroups::groups() const {
  FusionGroups groups;
  std::vector<std::size_t> number(group_.size(), group_.size());
  for (const OpId op : problem_->graph().topological_order()) {
    std::size_t& own = number[static_cast<std::size_t>(GroupOf(op))];
    if (own == number.size()) {
      own = groups.size();
      groups.emplace_back();
    }
    groups[own].push_back(op);
  }
  return groups;
}

template <typename Visit>
void MergedGroups::ForEachOp(OpId group, Visit visit) const {
  OpId op = group;
  do {
    visit(op);
    op = ring_[static_cast<std::size_t>(op)];
  } while (op != group);
}

OpId MergedGroups::ColocationRoot(OpId op) {
  while (colocation_parent_[static_cast<std::size_t>(op)] != op) {
    OpId& parent = colocation_parent_[static_cast<std::size_t>(op)];
    parent = colocation_parent_[static_cast<std::size_t>(parent)];
    op = parent;
  }
  return op;
}

// An output of the graph must leave its group: through a reader outside or for want of readers.
bool MergedGroups::HidesAnOutput() const {
  for (const OpId op : union_) {
    for (const TensorId output : problem_->graph().Outputs(op)) {
      const Tensor& tensor = problem_->graph().tensor(output);
      if (!tensor.output || tensor.consumers.empty()) continue;
      const bool leaves = std::any_of(tensor.consumers.begin(), tensor.consumers.end(), [this](OpId consumer) {
        return std::find(union_.begin(), union_.end(), consumer) == union_.end();
      });
      if (!leaves) return true;
    }
  }
  return false;
}

bool MergedGroups::LeavesADevice(OpId first, OpId second) {
  const auto devices = static_cast<std::size_t>(problem_->num_devices());
  const char* const one = open_.data() + static_cast<std::size_t>(ColocationRoot(first)) * devices;
  const char* const other = open_.data() + static_cast<std::size_t>(ColocationRoot(second)) * devices;
  const std::vector<char>* const stated = problem_->StatedOpen(union_, sorted_);
  bool any = false;
  for (std::size_t device = 0; device < devices; ++device) {
    if ((one[device] & other[device]) == 0) continue;
    any = true;
    if (stated != nullptr && (*stated)[device] == 0) return false;
  }
  return any;
}

// The groups always stand in an order, slots, in which every edge between groups leads upwards. As an edge leads from
// `first` to `second`, only a second path between them, through other groups, could make the union depend on itself.
// Groups on such a path have slots between theirs. Source of the order kept this way: Pearce and Kelly, "A dynamic
// topological sort algorithm for directed acyclic graphs", 2006.
//
// Ranks that rise along every edge also make every group convex: a path that leaves it would have to come back down.
bool MergedGroups::KeepsAnOrder(OpId first, OpId second) {
  mark_ += 2;
  looks_ = 0;
  later_.clear();
  earlier_.clear();
  // Most often one end has no neighbour between the two, and all is said.
  if (!Look<false>(second, second, first)) return false;
  if (earlier_.empty()) return true;
  if (!Look<true>(first, first, second)) return false;
  if (later_.empty()) return true;
  for (std::size_t up = 0, down = 0; up < later_.size() || down < earlier_.size();) {
    if (up < later_.size() && !Look<true>(later_[up++], first, second)) return false;
    if (down < earlier_.size() && !Look<false>(earlier_[down++], second, first)) return false;
  }
  return true;
}

// Adds the neighbours of one group on the way from `from` to `to` to those that are reached from `from`. False where
// the way is complete, or where it took too long to tell.
template <bool kForward>
bool MergedGroups::Look(OpId group, OpId from, OpId to) {
  const ComputationGraph& graph = problem_->graph();
  std::vector<OpId>& reached = kForward ? later_ : earlier_;
  const std::int32_t own = mark_ + (kForward ? 1 : 0);
  const std::int32_t other = mark_ + (kForward ? 0 : 1);
  bool apart = true;
  ForEachOp(group, [&](OpId op) {
    const std::span<const OpId> neighbours = kForward ? graph.Successors(op) : graph.Predecessors(op);
    looks_ += static_cast<int>(neighbours.size());
    if (looks_ > kMostLooks) apart = false;
    for (std::size_t i = 0; apart && i < neighbours.size(); ++i) {
      const OpId next = GroupOf(neighbours[i]);
      if (next == group || (next == to && group == from)) continue;
      std::int32_t& mark = marks_[static_cast<std::size_t>(next)];
      if (next == to || mark == other) apart = false;
      if (mark == own || (kForward ? Slot(next) > Slot(to) : Slot(next) < Slot(to))) continue;
      mark = own;
      reached.push_back(next);
    }
  });
  return apart;
}

// Gives the union, and the groups between its two halves, slots that rise along every edge again: what `second` depends
// on, then the union, then what depends on `first`.
void MergedGroups::Reorder(OpId first, OpId second) {
  if (earlier_.empty()) return;
  if (later_.empty()) {
    Slot(first) = Slot(second);
    return;
  }
  pool_.assign({Slot(first), Slot(second)});
  for (const OpId group : earlier_) pool_.push_back(Slot(group));
  for (const OpId group : later_) pool_.push_back(Slot(group));
  std::sort(pool_.begin(), pool_.end());
  const auto by_slot = [this](OpId a, OpId b) { return Slot(a) < Slot(b); };
  std::sort(earlier_.begin(), earlier_.end(), by_slot);
  std::sort(later_.begin(), later_.end(), by_slot);
  std::size_t next = 0;
  for (const OpId group : earlier_) Slot(group) = pool_[next++];
  Slot(first) = pool_[next];
  next = pool_.size() - later_.size();
  for (const OpId group : later_) Slot(group) = pool_[next++];
}

}  // namespace millrace
