// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/changing_plan.h"

#include <algorithm>

#include "millrace/cost/colocation_members.h"

namespace millrace {

ChangingPlan::ChangingPlan(const CostedGraph& costed)
    : costed_(costed),
      slot_(Index(costed.topology.num_devices) * Index(costed.topology.num_units), -1),
      members_(ColocationMembers(costed)),
      position_(Index(costed.num_groups)),
      first_on_(Index(costed.topology.num_units)),
      last_on_(Index(costed.topology.num_units)),
      first_(costed.num_groups),
      forced_(Index(costed.num_groups)) {
  const Topology& topology = costed.topology;
  for (int device = 0; device < topology.num_devices; ++device) {
    most_units_ = std::max(most_units_, Index(topology.UnitsOf(device)));
    std::int32_t slot = 0;
    for (const std::int32_t unit : UnitsOf(device)) slot_[Index(device * topology.num_units + unit)] = slot++;
  }
  previous_.resize(Index(costed.num_groups) * most_units_);
  next_.resize(Index(costed.num_groups) * most_units_);
}

ChangingPlan::Units ChangingPlan::UnitsOf(int device) const {
  const Topology& topology = costed_.topology;
  return {topology.device_units.data() + topology.device_offsets[Index(device)],
          topology.device_units.data() + topology.device_offsets[Index(device) + 1]};
}

std::size_t ChangingPlan::SlotOn(int group, int unit) const {
  if (most_units_ == 1) return Index(group);
  return Slot(group, slot_[Index(Device(group) * costed_.topology.num_units + unit)]);
}

void ChangingPlan::Begin(Assignment start) {
  current_ = std::move(start);
  Settle();
  std::fill(first_on_.begin(), first_on_.end(), -1);
  std::fill(last_on_.begin(), last_on_.end(), -1);
  std::fill(previous_.begin(), previous_.end(), -1);
  std::fill(next_.begin(), next_.end(), -1);
  for (int i = 0; i < costed_.num_groups; ++i) {
    const int group = current_.sequence[Index(i)];
    position_[Index(group)] = i;
    for (const std::int32_t unit : UnitsOf(Device(group))) {
      const int previous = last_on_[Index(unit)];
      previous_[SlotOn(group, unit)] = previous;
      (previous < 0 ? first_on_[Index(unit)] : next_[SlotOn(previous, unit)]) = group;
      last_on_[Index(unit)] = group;
    }
  }
}

std::span<const int> ChangingPlan::Colocated(int group) const {
  const std::int32_t colocation = costed_.colocation[Index(group)];
  if (colocation < 0) return {};
  return members_[Index(colocation)];
}

std::pair<int, int> ChangingPlan::Room(int group) const {
  int low = 0;
  int high = costed_.num_groups - 1;
  for (const GroupEdge& edge : costed_.Predecessors(group)) low = std::max(low, Position(edge.group) + 1);
  for (const GroupEdge& edge : costed_.Successors(group)) high = std::min(high, Position(edge.group) - 1);
  return {low, high};
}

void ChangingPlan::Unlink(int group) {
  for (const std::int32_t unit : UnitsOf(Device(group))) {
    const std::size_t here = SlotOn(group, unit);
    const int previous = previous_[here];
    const int next = next_[here];
    (previous < 0 ? first_on_[Index(unit)] : next_[SlotOn(previous, unit)]) = next;
    (next < 0 ? last_on_[Index(unit)] : previous_[SlotOn(next, unit)]) = previous;
    if (next >= 0) wake_.push_back(next);
    if (previous >= 0) wake_up_.push_back(previous);
  }
}

int ChangingPlan::LastBefore(int position, int unit) const {
  const int last = last_on_[Index(unit)];
  if (last < 0 || Position(last) < position) return last;
  if (Position(first_on_[Index(unit)]) > position) return -1;
  for (int i = position - 1;; --i) {
    const int group = current_.sequence[Index(i)];
    if (slot_[Index(Device(group) * costed_.topology.num_units + unit)] >= 0) return group;
  }
}

void ChangingPlan::Link(int group) {
  for (const std::int32_t unit : UnitsOf(Device(group))) {
    const std::size_t here = SlotOn(group, unit);
    const int previous = LastBefore(Position(group), unit);
    int& after = previous < 0 ? first_on_[Index(unit)] : next_[SlotOn(previous, unit)];
    const int next = after;
    after = group;
    (next < 0 ? last_on_[Index(unit)] : previous_[SlotOn(next, unit)]) = group;
    previous_[here] = previous;
    next_[here] = next;
    if (next >= 0) wake_.push_back(next);
    if (previous >= 0) wake_up_.push_back(previous);
  }
}

void ChangingPlan::PlaceOne(int group, int device) {
  if (Device(group) == device) return;
  undo_.push_back({group, Device(group), 0});
  forced_[Index(group)] = 1;
  first_ = std::min(first_, Position(group));
  last_ = std::max(last_, Position(group));
  Unlink(group);
  current_.placement[Index(group)] = device;
  Link(group);
}

void ChangingPlan::Place(int group, int device) {
  if (costed_.Seconds(group, device) == kCannotRun) return;
  const std::span<const int> colocated = Colocated(group);
  if (colocated.empty()) {
    PlaceOne(group, device);
  } else {
    for (const int member : colocated) PlaceOne(member, device);
  }
}

void ChangingPlan::Shift(int from, int to) {
  const auto begin = current_.sequence.begin();
  if (from < to) std::rotate(begin + from, begin + from + 1, begin + to + 1);
  if (to < from) std::rotate(begin + to, begin + from, begin + from + 1);
  for (int i = std::min(from, to); i <= std::max(from, to); ++i) position_[Index(current_.sequence[Index(i)])] = i;
}

void ChangingPlan::Move(int group, int to) {
  const int from = Position(group);
  if (from == to) return;
  undo_.push_back({group, -1, from});
  forced_[Index(group)] = 1;
  first_ = std::min(first_, std::min(from, to));
  last_ = std::max(last_, std::max(from, to));
  Unlink(group);
  Shift(from, to);
  Link(group);
}

std::span<const int> ChangingPlan::ChangedGroups() {
  changed_groups_.clear();
  for (const Undo& undo : undo_) changed_groups_.push_back(undo.group);
  return changed_groups_;
}

void ChangingPlan::Revert() {
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    Unlink(undo->group);
    if (undo->device < 0) {
      Shift(Position(undo->group), undo->from);
    } else {
      current_.placement[Index(undo->group)] = undo->device;
    }
    Link(undo->group);
  }
}

void ChangingPlan::Settle() {
  for (const Undo& undo : undo_) forced_[Index(undo.group)] = 0;
  undo_.clear();
  wake_.clear();
  wake_up_.clear();
  first_ = costed_.num_groups;
  last_ = -1;
}

}  // namespace millrace
