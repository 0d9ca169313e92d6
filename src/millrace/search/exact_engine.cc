// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/exact_engine.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/time_step.h"

namespace millrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

ExactEngine::ExactEngine(const CostedGraph& costed, std::vector<double> tail, const ApartGroups& apart, double limit,
                         double step, std::size_t memo_bytes)
    : costed_(costed),
      schedule_(costed),
      bounds_(costed, std::move(tail), apart),
      memo_(memo_bytes),
      whole_machine_(!costed.limited_memory),
      limit_(limit),
      step_(step),
      frames_(Index(costed.num_groups) + 1) {}

double ExactEngine::OpenBound() const {
  if (!begun_) return 0;
  double bound = limit_;
  for (int depth = 0; depth <= depth_; ++depth) {
    const Frame& frame = frames_[Index(depth)];
    for (std::size_t i = frame.next; i < frame.children.size(); ++i) {
      if (frame.children[i].open) bound = std::min(bound, frame.children[i].bound);
    }
  }
  return bound;
}

void ExactEngine::RunNodes(std::int64_t nodes) {
  const std::int64_t last = nodes_ + nodes;
  if (!begun_) {
    begun_ = true;
    Enter(0);
  }
  while (depth_ >= 0 && nodes_ < last) {
    Frame& frame = frames_[Index(depth_)];
    if (frame.next == frame.children.size()) {
      if (depth_-- > 0) schedule_.TakeBack();
      continue;
    }
    const Child child = frame.children[frame.next++];
    if (!child.open || child.bound >= limit_) continue;
    schedule_.Append(child.group, child.device, child.start);
    CloseGaps(frame, child);
    Enter(child.bound);
  }
  done_ = depth_ < 0;
}

void ExactEngine::Enter(double inherited) {
  ++nodes_;
  Frame& frame = frames_[Index(++depth_)];
  frame.children.clear();
  frame.next = 0;
  if (schedule_.size() == costed_.num_groups) {
    Leaf();
    return;
  }
  const double bound = std::max(inherited, bounds_.Find(schedule_, limit_));
  if (bound >= limit_ || Repeats(bound)) return;
  FindChildren(bound, frame.children);
}

void ExactEngine::Leaf() {
  const double makespan = schedule_.makespan();
  if (makespan >= limit_) return;
  Assignment plan{schedule_.placement(), schedule_.sequence()};
  if (!FitsInMemory(costed_, plan)) return;
  best_ = RatedAssignment{std::move(plan), makespan};
  limit_ = BelowMakespan(makespan, step_);
}

void ExactEngine::FindChildren(double bound, std::vector<Child>& children) {
  for (int group = 0; group < costed_.num_groups; ++group) {
    if (!schedule_.Ready(group)) continue;
    for (const int device : bounds_.shown()) {
      const double head = bounds_.Head(group, device);
      if (head == kNever || bounds_.Spare(device)) continue;
      double start = schedule_.DeviceFree(device);
      for (const GroupEdge& edge : costed_.Predecessors(group)) {
        start =
            std::max(start, schedule_.Finish(edge.group) +
                                costed_.TransferSeconds(edge.bytes, schedule_.placement()[Index(edge.group)], device));
      }
      Child child;
      child.group = group;
      child.device = device;
      child.start = start;
      child.finish = start + costed_.Seconds(group, device);
      child.tail = costed_.Seconds(group, device) + bounds_.Tail(group, device);
      child.bound = std::max(bound, start + child.tail);
      child.open = start >= schedule_.last_start();  // else the same comes about with the group appended earlier
      children.push_back(child);
    }
  }
  std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
    return std::tuple(a.start, -a.tail, a.group, a.device) < std::tuple(b.start, -b.tail, b.group, b.device);
  });
  if (!bounds_.PlaceIsAllOne()) return;
  for (Child& child : children) {
    child.open = child.open && std::none_of(children.begin(), children.end(), [&child](const Child& other) {
                   return other.start < child.start && other.finish <= child.start;
                 });
  }
}

// A group that could run from before the chosen one's start to its start has no reason to come later on that device.
void ExactEngine::CloseGaps(const Frame& frame, const Child& chosen) {
  if (!whole_machine_) return;
  for (const Child& other : frame.children) {
    if (other.start >= chosen.start) return;
    if (other.finish > chosen.start || other.group == chosen.group) continue;
    if (costed_.Successors(other.group).empty() && costed_.colocation[Index(other.group)] < 0 &&
        bounds_.ApartFrom(other.group).empty())
      schedule_.CloseEverywhere(other.group);
    else if (other.device == chosen.device)
      schedule_.Close(other.group, other.device);
  }
}

// Has a state been met that is as good? If not, this one is kept.
bool ExactEngine::Repeats(double bound) {
  const auto devices = Index(costed_.num_devices);
  if (!whole_machine_ || schedule_.size() == 0 || devices > 255) return false;
  const std::vector<int>& first = bounds_.first_symmetric();
  order_.resize(devices);
  for (std::size_t i = 0; i < devices; ++i) order_[i] = static_cast<int>(i);
  // Symmetric devices lie side by side, ordered by when they are free.
  std::sort(order_.begin(), order_.end(), [&](int a, int b) {
    return std::tuple(first[Index(a)], schedule_.DeviceFree(a), a) <
           std::tuple(first[Index(b)], schedule_.DeviceFree(b), b);
  });
  state_.times.clear();
  state_.devices.clear();
  limits_.latest_free.clear();
  limits_.latest_finish.clear();
  state_.times.push_back(schedule_.makespan());
  limits_.latest_free.push_back(bound);
  for (const int device : order_) {
    state_.times.push_back(schedule_.DeviceFree(device));
    limits_.latest_free.push_back(bounds_.Used(device));
  }
  const bool anywhere = bounds_.PlaceIsAllOne();
  const auto place_of = [&](int device) {
    return static_cast<std::uint8_t>(std::find(order_.begin(), order_.end(), device) - order_.begin());
  };
  for (int group = 0; group < costed_.num_groups; ++group) {
    if (!schedule_.Scheduled(group)) continue;
    const auto successors = costed_.Successors(group);
    const std::vector<int>& apart = bounds_.ApartFrom(group);
    if (std::all_of(successors.begin(), successors.end(),
                    [&](const GroupEdge& edge) { return schedule_.Scheduled(edge.group); }) &&
        std::all_of(apart.begin(), apart.end(), [&](int other) { return schedule_.Scheduled(other); }))
      continue;
    const int here = schedule_.placement()[Index(group)];
    state_.times.push_back(schedule_.Finish(group));
    state_.devices.push_back(anywhere ? std::uint8_t{0} : place_of(here));
    for (std::size_t i = 0; i < devices; ++i) {
      const int from = order_[i];
      double latest = kNever;
      if (!anywhere || i == 0) {
        for (const GroupEdge& edge : successors) {
          if (schedule_.Scheduled(edge.group)) continue;
          for (const int to : bounds_.shown()) {
            const double head = bounds_.Head(edge.group, to);
            if (head < kNever) latest = std::min(latest, head - costed_.TransferSeconds(edge.bytes, from, to));
          }
        }
      }
      for (const int other : apart) {
        if (from != here && !schedule_.Scheduled(other) && bounds_.MayUse(other, from)) latest = -kNever;
      }
      if (from == here || anywhere) latest = std::max(latest, schedule_.Finish(group));
      limits_.latest_finish.push_back(latest);
    }
  }
  for (int colocation = 0; colocation < costed_.num_colocations; ++colocation) {
    const int settled = schedule_.Settled(colocation);
    if (settled < 0) continue;
    state_.devices.push_back(place_of(settled));
    for (const int device : order_) limits_.latest_finish.push_back(device == settled ? kNever : -kNever);
  }
  if (memo_.Dominated(schedule_.scheduled(), limits_, devices)) return true;
  memo_.Keep(schedule_.scheduled(), state_);
  return false;
}

}  // namespace millrace
