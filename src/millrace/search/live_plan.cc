// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/live_plan.h"

#include <algorithm>
#include <utility>

namespace millrace {

LivePlan::LivePlan(const CostedGraph& costed)
    : ChangingPlan(costed),
      finish_(Index(costed.num_groups)),
      tail_(Index(costed.num_groups)),
      waiting_(costed.num_groups) {
  before_.reserve(Index(costed.num_groups));
}

double LivePlan::Transfer(const GroupEdge& edge, int from, int to) const {
  const std::size_t pair = costed_.topology.Pair(from, to);
  return costed_.topology.latency[pair] + edge.bytes * costed_.topology.seconds_per_byte[pair];
}

void LivePlan::Start(Assignment start) {
  Begin(std::move(start));
  Forget();
  makespan_ = 0;
  for (const int group : current_.sequence) {
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
  Revert();
  Forget();
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
  Forget();
}

void LivePlan::Forget() {
  Settle();
  before_.clear();
  beyond_.clear();
}

}  // namespace millrace
