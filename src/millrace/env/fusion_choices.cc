// SPDX-License-Identifier: Apache-2.0
#include "millrace/env/fusion_choices.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "millrace/plan/fusion_table.h"

namespace millrace {

FusionProblem::FusionProblem(const CostModel& model)
    : model_(model),
      devices_(model.topology().num_devices),
      first_candidates_(static_cast<std::size_t>(graph().num_ops())),
      num_candidates_(first_candidates_.size()),
      positions_(first_candidates_.size()),
      anchors_(first_candidates_.size()),
      ties_(first_candidates_.size()) {
  std::int32_t position = 0;
  for (const OpId op : graph().topological_order()) positions_[static_cast<std::size_t>(op)] = position++;

  std::vector<FusionRole> roles;
  for (const Op& op : graph().ops()) roles.push_back(FusionRoleOf(op.type));
  for (std::size_t op = 0; op < roles.size(); ++op) anchors_[op] = static_cast<char>(roles[op] == FusionRole::kAnchor);
  std::vector<OpId> producers;
  for (const OpId op : graph().topological_order()) {
    first_candidates_[static_cast<std::size_t>(op)] = candidates_.size();
    if (roles[static_cast<std::size_t>(op)] != FusionRole::kElementwise) continue;
    producers.assign(graph().Predecessors(op).begin(), graph().Predecessors(op).end());
    std::sort(producers.begin(), producers.end(),
              [this](OpId a, OpId b) { return this->position(a) > this->position(b); });
    for (const OpId producer : producers) {
      if (roles[static_cast<std::size_t>(producer)] != FusionRole::kAlone) candidates_.push_back({producer, op});
    }
    num_candidates_[static_cast<std::size_t>(op)] =
        candidates_.size() - first_candidates_[static_cast<std::size_t>(op)];
  }

  const auto devices = static_cast<std::size_t>(devices_);
  std::unordered_map<std::string_view, OpId> tie_of;
  open_.assign(first_candidates_.size() * devices, 1);
  for (OpId op = 0; op < graph().num_ops(); ++op) {
    const std::string& name = graph().op(op).colocate;
    const OpId tie = name.empty() ? op : tie_of.emplace(name, op).first->second;
    ties_[static_cast<std::size_t>(op)] = tie;
    for (std::size_t device = 0; device < devices; ++device) {
      seconds_.push_back(model.GroupSeconds(std::span(&op, 1), static_cast<int>(device)));
      if (!std::isfinite(seconds_.back())) open_[static_cast<std::size_t>(tie) * devices + device] = 0;
    }
  }

  for (const GroupTime& entry : graph().group_seconds()) {
    if (entry.ops.size() < 2 || entry.seconds.everywhere) continue;
    std::vector<OpId> ordered = entry.ops;
    std::sort(ordered.begin(), ordered.end(), [this](OpId a, OpId b) { return this->position(a) < this->position(b); });
    std::vector<char> open;
    for (int device = 0; device < devices_; ++device)
      open.push_back(static_cast<char>(std::isfinite(model.GroupSeconds(ordered, device))));
    stated_.emplace(entry.ops, std::move(open));
  }
}

const std::vector<char>* FusionProblem::StatedOpen(std::span<const OpId> ops, std::vector<OpId>& key) const {
  if (stated_.empty()) return nullptr;
  key.assign(ops.begin(), ops.end());
  std::sort(key.begin(), key.end());
  const auto found = stated_.find(key);
  return found == stated_.end() ? nullptr : &found->second;
}

FusionState::FusionState(const FusionProblem& problem)
    : problem_(&problem),
      group_(static_cast<std::size_t>(problem.graph().num_ops())),
      ring_(group_.size()),
      sizes_(group_.size()),
      anchor_(group_.size()),
      slots_(group_.size()),
      tie_parent_(group_.size()),
      open_(group_.size() * static_cast<std::size_t>(problem.num_devices())),
      declined_(problem.candidates().size()),
      marks_(group_.size()) {
  answers_.reserve(declined_.size());
  union_.reserve(kMostOpsPerGroup);
  sorted_.reserve(kMostOpsPerGroup);
  later_.reserve(group_.size());
  earlier_.reserve(group_.size());
  pool_.reserve(group_.size() + 2);
  Clear();
}

void FusionState::Clear() {
  answers_.clear();
  next_ = 0;
  mark_ = 2;
  std::fill(marks_.begin(), marks_.end(), 0);
  std::fill(declined_.begin(), declined_.end(), 0);
  const auto devices = static_cast<std::ptrdiff_t>(problem_->num_devices());
  for (OpId op = 0; op < problem_->graph().num_ops(); ++op) {
    const auto i = static_cast<std::size_t>(op);
    group_[i] = ring_[i] = op;
    sizes_[i] = 1;
    anchor_[i] = problem_->anchor(op) ? op : -1;
    slots_[i] = problem_->position(op);
    tie_parent_[i] = problem_->tie(op);
    const std::span<const char> open = problem_->Open(op);
    std::copy(open.begin(), open.end(), open_.begin() + static_cast<std::ptrdiff_t>(op) * devices);
  }
  Skip();
}

void FusionState::Accept() {
  const OpId first = GroupOf(offer().producer);
  const OpId second = GroupOf(offer().consumer);
  Reorder(first, second);
  const OpId tie = TieRoot(first);
  const OpId other = TieRoot(second);
  if (tie != other) {
    const auto devices = static_cast<std::size_t>(problem_->num_devices());
    for (std::size_t device = 0; device < devices; ++device)
      open_[static_cast<std::size_t>(tie) * devices + device] &=
          open_[static_cast<std::size_t>(other) * devices + device];
    tie_parent_[static_cast<std::size_t>(other)] = tie;
  }
  for (const OpId op : union_) group_[static_cast<std::size_t>(op)] = first;
  std::swap(ring_[static_cast<std::size_t>(first)], ring_[static_cast<std::size_t>(second)]);
  sizes_[static_cast<std::size_t>(first)] = static_cast<std::int32_t>(union_.size());
  if (anchor_[static_cast<std::size_t>(first)] < 0)
    anchor_[static_cast<std::size_t>(first)] = anchor_[static_cast<std::size_t>(second)];
  answers_.push_back(1);
  ++next_;
  Skip();
}

void FusionState::Decline() {
  declined_[next_] = 1;
  answers_.push_back(0);
  ++next_;
  Skip();
}

FusionGroups FusionState::groups() const {
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
void FusionState::ForEachOp(OpId group, Visit visit) const {
  OpId op = group;
  do {
    visit(op);
    op = ring_[static_cast<std::size_t>(op)];
  } while (op != group);
}

OpId FusionState::TieRoot(OpId op) {
  while (tie_parent_[static_cast<std::size_t>(op)] != op) {
    OpId& parent = tie_parent_[static_cast<std::size_t>(op)];
    parent = tie_parent_[static_cast<std::size_t>(parent)];
    op = parent;
  }
  return op;
}

// On to the next candidate that may be offered.
void FusionState::Skip() {
  const std::span<const Merge> candidates = problem_->candidates();
  for (; next_ < candidates.size(); ++next_) {
    const OpId first = GroupOf(candidates[next_].producer);
    const OpId second = GroupOf(candidates[next_].consumer);
    if (first != second && MayMerge(first, second)) return;
  }
}

bool FusionState::MayMerge(OpId first, OpId second) {
  if (static_cast<std::size_t>(Size(first) + Size(second)) > kMostOpsPerGroup) return false;
  const OpId anchor = anchor_[static_cast<std::size_t>(second)];
  if (anchor >= 0) {
    if (anchor_[static_cast<std::size_t>(first)] >= 0) return false;
    for (const OpId producer : problem_->graph().Predecessors(anchor)) {
      if (GroupOf(producer) == first) return false;
    }
  }
  union_.clear();
  ForEachOp(first, [this](OpId op) { union_.push_back(op); });
  ForEachOp(second, [this](OpId op) { union_.push_back(op); });
  std::sort(union_.begin(), union_.end(),
            [this](OpId a, OpId b) { return problem_->position(a) < problem_->position(b); });
  return !JoinsDeclined() && !HidesAnOutput() && LeavesADevice(first, second) && KeepsAnOrder(first, second);
}

bool FusionState::JoinsDeclined() const {
  const auto in_union = [this](OpId op) { return std::find(union_.begin(), union_.end(), op) != union_.end(); };
  for (const OpId op : union_) {
    const std::size_t begin = problem_->first_candidate(op);
    const std::size_t end = std::min(next_, begin + problem_->num_candidates(op));
    for (std::size_t i = begin; i < end; ++i) {
      if (declined_[i] != 0 && in_union(problem_->candidates()[i].producer)) return true;
    }
  }
  return false;
}

// An output of the graph must leave its group: through a reader outside or for want of readers.
bool FusionState::HidesAnOutput() const {
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

bool FusionState::LeavesADevice(OpId first, OpId second) {
  const auto devices = static_cast<std::size_t>(problem_->num_devices());
  const char* const one = open_.data() + static_cast<std::size_t>(TieRoot(first)) * devices;
  const char* const other = open_.data() + static_cast<std::size_t>(TieRoot(second)) * devices;
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
bool FusionState::KeepsAnOrder(OpId first, OpId second) {
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
bool FusionState::Look(OpId group, OpId from, OpId to) {
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
void FusionState::Reorder(OpId first, OpId second) {
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

std::optional<std::vector<char>> AnswersFor(const FusionProblem& problem, const FusionGroups& groups) {
  std::vector<std::size_t> wanted(static_cast<std::size_t>(problem.graph().num_ops()), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const OpId op : groups[g]) wanted[static_cast<std::size_t>(op)] = g;
  }
  FusionState state(problem);
  while (!state.done()) {
    const Merge merge = state.offer();
    if (wanted[static_cast<std::size_t>(merge.producer)] == wanted[static_cast<std::size_t>(merge.consumer)]) {
      state.Accept();
    } else {
      state.Decline();
    }
  }
  // Only ops wanted together were joined, so it is enough that none were left apart.
  for (const std::vector<OpId>& group : groups) {
    for (const OpId op : group) {
      if (state.GroupOf(op) != state.GroupOf(group.front())) return std::nullopt;
    }
  }
  return state.answers();
}

}  // namespace millrace
