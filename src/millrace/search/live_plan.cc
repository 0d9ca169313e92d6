// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/live_plan.h"

#include <algorithm>

namespace millrace {

LivePlan::LivePlan(const CostedGraph& costed)
    : costed_(costed),
      slot_(Index(costed.topology.num_devices * costed.topology.num_units), -1),
      members_(Index(costed.num_colocations)),
      position_(Index(costed.num_groups)),
      first_on_(Index(costed.topology.num_units)),
      last_on_(Index(costed.topology.num_units)),
      finish_(Index(costed.num_groups)),
      tail_(Index(costed.num_groups)),
      forced_(Index(costed.num_groups)),
      waiting_(costed.num_groups) {
  const Topology& topology = costed.topology;
  for (int device = 0; device < topology.num_devices; ++device) {
    most_units_ = std::max(most_units_, Index(topology.UnitsOf(device)));
    std::int32_t slot = 0;
    for (const std::int32_t unit : UnitsOf(device)) slot_[Index(device * topology.num_units + unit)] = slot++;
  }
  previous_.resize(Index(costed.num_groups) * most_units_);
  next_.resize(Index(costed.num_groups) * most_units_);
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[Index(group)];
    if (colocation >= 0) members_[Index(colocation)].push_back(group);
  }
  before_.reserve(Index(costed.num_groups));
}

LivePlan::Units LivePlan::UnitsOf(int device) const {
  const Topology& topology = costed_.topology;
  return {topology.device_units.data() + topology.device_offsets[Index(device)],
          topology.device_units.data() + topology.device_offsets[Index(device) + 1]};
}

std::size_t LivePlan::SlotOn(int group, int unit) const {
  if (most_units_ == 1) return Index(group);
  return Slot(group, slot_[Index(Device(group) * costed_.topology.num_units + unit)]);
}

double LivePlan::Transfer(const GroupEdge& edge, int from, int to) const {
  const std::size_t pair = costed_.topology.Pair(from, to);
  return costed_.topology.latency[pair] + edge.bytes * costed_.topology.seconds_per_byte[pair];
}

void LivePlan::Start(Assignment start) {
  current_ = std::move(start);
  Settle();
  std::fill(first_on_.begin(), first_on_.end(), -1);
  std::fill(last_on_.begin(), last_on_.end(), -1);
  makespan_ = 0;
  for (int i = 0; i < costed_.num_groups; ++i) {
    const int group = current_.sequence[Index(i)];
    position_[Index(group)] = i;
    for (const std::int32_t unit : UnitsOf(Device(group))) {
      const int previous = last_on_[Index(unit)];
      const std::size_t here = SlotOn(group, unit);
      previous_[here] = previous;
      next_[here] = -1;
      (previous < 0 ? first_on_[Index(unit)] : next_[SlotOn(previous, unit)]) = group;
      last_on_[Index(unit)] = group;
    }
    finish_[Index(group)] = Finish(group);
    makespan_ = std::max(makespan_, finish_[Index(group)]);
  }
  for (int i = costed_.num_groups - 1; i >= 0; --i) {
    const int group = current_.sequence[Index(i)];
    tail_[Index(group)] = Tail(group);
  }
}

double LivePlan::Finish(int group) const {
  const int here = Device(group);
  double start = 0;
  for (const GroupEdge& edge : costed_.Predecessors(group))
    start = std::max(start, finish_[Index(edge.group)] + Transfer(edge, Device(edge.group), here));
  const int units = costed_.topology.UnitsOf(here);
  for (int unit = 0; unit < units; ++unit) {
    const int previous = previous_[Slot(group, unit)];
    if (previous >= 0) start = std::max(start, finish_[Index(previous)]);
  }
  return start + costed_.Seconds(group, here);
}

double LivePlan::Tail(int group) const {
  const int here = Device(group);
  double tail = 0;
  for (const GroupEdge& edge : costed_.Successors(group))
    tail =
        std::max(tail, Transfer(edge, here, Device(edge.group)) + (SecondsOf(edge.group) + tail_[Index(edge.group)]));
  const int units = costed_.topology.UnitsOf(here);
  for (int unit = 0; unit < units; ++unit) {
    const int next = next_[Slot(group, unit)];
    if (next >= 0) tail = std::max(tail, SecondsOf(next) + tail_[Index(next)]);
  }
  return tail;
}

std::pair<int, int> LivePlan::Room(int group) const {
  int low = 0;
  int high = costed_.num_groups - 1;
  for (const GroupEdge& edge : costed_.Predecessors(group)) low = std::max(low, Position(edge.group) + 1);
  for (const GroupEdge& edge : costed_.Successors(group)) high = std::min(high, Position(edge.group) - 1);
  return {low, high};
}

void LivePlan::Unlink(int group) {
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

int LivePlan::LastBefore(int position, int unit) const {
  const int last = last_on_[Index(unit)];
  if (last < 0 || Position(last) < position) return last;
  if (Position(first_on_[Index(unit)]) > position) return -1;
  for (int i = position - 1;; --i) {
    const int group = current_.sequence[Index(i)];
    if (slot_[Index(Device(group) * costed_.topology.num_units + unit)] >= 0) return group;
  }
}

void LivePlan::Link(int group) {
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

void LivePlan::PlaceOne(int group, int device) {
  if (Device(group) == device) return;
  undo_.push_back({group, Device(group), 0});
  forced_[Index(group)] = 1;
  last_ = std::max(last_, Position(group));
  Unlink(group);
  current_.placement[Index(group)] = device;
  Link(group);
}

void LivePlan::Place(int group, int device) {
  if (costed_.Seconds(group, device) == kCannotRun) return;
  const std::int32_t colocation = costed_.colocation[Index(group)];
  if (colocation < 0) {
    PlaceOne(group, device);
  } else {
    for (const int member : members_[Index(colocation)]) PlaceOne(member, device);
  }
}

void LivePlan::Shift(int from, int to) {
  const auto begin = current_.sequence.begin();
  if (from < to) std::rotate(begin + from, begin + from + 1, begin + to + 1);
  if (to < from) std::rotate(begin + to, begin + from, begin + from + 1);
  for (int i = std::min(from, to); i <= std::max(from, to); ++i) position_[Index(current_.sequence[Index(i)])] = i;
}

void LivePlan::Move(int group, int to) {
  const int from = Position(group);
  if (from == to) return;
  undo_.push_back({group, -1, from});
  forced_[Index(group)] = 1;
  last_ = std::max(last_, std::max(from, to));
  Unlink(group);
  Shift(from, to);
  Link(group);
}

double LivePlan::Price(double limit) {
  double price = 0;
  for (const Undo& undo : undo_) waiting_.Add(Position(undo.group));
  for (const int group : wake_) {
    if (Position(group) <= last_) {
      waiting_.Add(Position(group));
    } else {
      beyond_.push_back(group);
    }
  }
  for (int i = 0; !waiting_.empty();) {
    i = waiting_.TakeFirst(i);
    if (price > limit) continue;
    const int group = current_.sequence[Index(i)];
    const int here = Device(group);
    const double finish = Finish(group);
    double& known = finish_[Index(group)];
    if (finish == known && forced_[Index(group)] == 0) continue;
    before_.push_back({group, known});
    known = finish;
    price = std::max(price, finish);
    for (const GroupEdge& edge : costed_.Successors(group)) {
      const int next = edge.group;
      if (Position(next) <= last_) {
        waiting_.Add(Position(next));
      } else {
        beyond_.push_back(next);
        price = std::max(price, finish + (Transfer(edge, here, Device(next)) + (SecondsOf(next) + tail_[Index(next)])));
      }
    }
    const int units = costed_.topology.UnitsOf(here);
    for (int unit = 0; unit < units; ++unit) {
      const int next = next_[Slot(group, unit)];
      if (next < 0) continue;
      if (Position(next) <= last_) {
        waiting_.Add(Position(next));
      } else {
        beyond_.push_back(next);
        price = std::max(price, finish + (SecondsOf(next) + tail_[Index(next)]));
      }
    }
  }
  return price;
}

void LivePlan::TakeBack() {
  for (auto old = before_.rbegin(); old != before_.rend(); ++old) finish_[Index(old->group)] = old->seconds;
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    Unlink(undo->group);
    if (undo->device < 0) {
      Shift(Position(undo->group), undo->from);
    } else {
      current_.placement[Index(undo->group)] = undo->device;
    }
    Link(undo->group);
  }
  Settle();
}

void LivePlan::Keep() {
  for (const int group : beyond_) waiting_.Add(Position(group));
  for (int i = 0; !waiting_.empty();) {
    i = waiting_.TakeFirst(i);
    const int group = current_.sequence[Index(i)];
    const double finish = Finish(group);
    if (finish == finish_[Index(group)]) continue;
    finish_[Index(group)] = finish;
    for (const GroupEdge& edge : costed_.Successors(group)) waiting_.Add(Position(edge.group));
    const int units = costed_.topology.UnitsOf(Device(group));
    for (int unit = 0; unit < units; ++unit) {
      const int next = next_[Slot(group, unit)];
      if (next >= 0) waiting_.Add(Position(next));
    }
  }
  for (const Undo& undo : undo_) {
    waiting_.Add(Position(undo.group));
    if (undo.device < 0) continue;
    for (const GroupEdge& edge : costed_.Predecessors(undo.group)) waiting_.Add(Position(edge.group));
  }
  for (const int group : wake_up_) waiting_.Add(Position(group));
  for (int i = costed_.num_groups - 1; !waiting_.empty();) {
    i = waiting_.TakeLast(i);
    const int group = current_.sequence[Index(i)];
    const double tail = Tail(group);
    // A group on a new device hands its own seconds on even where its tail stays.
    if (tail == tail_[Index(group)] && forced_[Index(group)] == 0) continue;
    tail_[Index(group)] = tail;
    for (const GroupEdge& edge : costed_.Predecessors(group)) waiting_.Add(Position(edge.group));
    const int units = costed_.topology.UnitsOf(Device(group));
    for (int unit = 0; unit < units; ++unit) {
      const int previous = previous_[Slot(group, unit)];
      if (previous >= 0) waiting_.Add(Position(previous));
    }
  }
  makespan_ = 0;
  for (const int last : last_on_) makespan_ = std::max(makespan_, last < 0 ? 0.0 : finish_[Index(last)]);
  Settle();
}

// Forgets the change under way.
void LivePlan::Settle() {
  for (const Undo& undo : undo_) forced_[Index(undo.group)] = 0;
  undo_.clear();
  wake_.clear();
  wake_up_.clear();
  before_.clear();
  beyond_.clear();
  last_ = -1;
}

}  // namespace millrace
