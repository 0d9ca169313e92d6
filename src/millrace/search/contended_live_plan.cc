// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/contended_live_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace millrace {
namespace {

constexpr double kBeforeAll = -1;
constexpr double kAfterAll = std::numeric_limits<double>::infinity();

constexpr int kMostWays = 3;  // that are looked at for one change

}  // namespace

ContendedLivePlan::ContendedLivePlan(const CostedGraph& costed)
    : ChangingPlan(costed),
      run_(costed),
      interval_(std::max(kLeastInterval, costed.num_groups / kMostStates + 1)),
      kept_(kMostStates + 1),
      fresh_(kMostStates + 1),
      open_(kMostStates + 1),
      rest_(Index(costed.num_groups)),
      stale_(costed.num_groups),
      finish_(Index(costed.num_groups)),
      before_(Index(costed.num_groups)),
      critical_(Index(costed.num_groups)),
      seen_(Index(costed.num_groups)),
      one_device_a_memory_(costed.topology.num_memories == costed.topology.num_devices) {
  // A tensor goes to the device of its first reader in a memory, over that one's link.
  const Topology& topology = costed.topology;
  transfers_.resize(topology.free.size());
  for (int from = 0; from < topology.num_devices; ++from) {
    for (int to = 0; to < topology.num_devices; ++to) {
      if (topology.free[topology.Pair(from, to)] != 0) continue;
      LeastTransfer& transfer = transfers_[topology.Pair(from, to)];
      transfer = {kAfterAll, kAfterAll};
      for (int there = 0; there < topology.num_devices; ++there) {
        const std::size_t pair = topology.Pair(from, there);
        if (topology.free[pair] != 0 || topology.memory_of[Index(there)] != topology.memory_of[Index(to)]) continue;
        transfer.latency = std::min(transfer.latency, topology.latency[pair]);
        transfer.seconds_per_byte = std::min(transfer.seconds_per_byte, topology.seconds_per_byte[pair]);
      }
    }
  }
}

ChainedPlan ContendedLivePlan::Chains() const {
  return {current_.placement.data(), position_.data(), next_.data(), most_units_, rest_.data()};
}

// The longest way from the group's start to the end of the plan, were all channels free. Groups behind it in the
// sequence have theirs already.
double ContendedLivePlan::Rest(int group) const {
  const int device = Device(group);
  double rest = 0;
  const int units = costed_.topology.UnitsOf(device);
  for (int unit = 0; unit < units; ++unit) {
    const int next = next_[Slot(group, unit)];
    if (next >= 0) rest = std::max(rest, rest_[Index(next)]);
  }
  const LeastTransfer* const transfers = transfers_.data() + Index(device) * Index(costed_.num_devices);
  for (const GroupEdge& edge : costed_.Successors(group)) {
    const LeastTransfer& transfer = transfers[Device(edge.group)];
    rest = std::max(rest, transfer.latency + edge.bytes * transfer.seconds_per_byte + rest_[Index(edge.group)]);
  }
  return rest + costed_.Seconds(group, device);
}

std::int32_t ContendedLivePlan::GroupsBefore(int group) const {
  std::int32_t before = 0;
  const int units = costed_.topology.UnitsOf(Device(group));
  for (int unit = 0; unit < units; ++unit) before += previous_[Slot(group, unit)] >= 0 ? 1 : 0;
  return before;
}

void ContendedLivePlan::Start(Assignment start) {
  Begin(std::move(start));
  ContendedState& first = kept_.front();
  first.waiting.resize(Index(costed_.num_groups));
  for (int group = 0; group < costed_.num_groups; ++group) {
    before_[Index(group)] = GroupsBefore(group);
    first.waiting[Index(group)] = run_.InputsOf(group) + before_[Index(group)];
  }
  first.time = kBeforeAll;
  num_kept_ = 1;
  FindRests();
  GoOn(kAfterAll, 0);
  Commit();
  FindCritical();
}

// The state that fresh_ has at `from` is that of kept_ with the change.
void ContendedLivePlan::GoOn(double limit, std::size_t from) {
  const ChainedPlan plan = Chains();
  now_ = kept_[from];
  ApplyChange(now_);
  if (from == 0) {
    run_.Begin(plan, now_);
  } else {
    run_.Resume(now_);
  }
  from_ = from;
  num_fresh_ = from + 1;
  as_before_ = false;
  int left = interval_;
  while (run_.bound() <= limit && run_.Step(plan, now_)) {
    if (--left > 0) continue;
    left = interval_;
    as_before_ = num_fresh_ < num_kept_ && GoesOnLike(kept_[num_fresh_]);
    if (as_before_) return;
    if (num_fresh_ < fresh_.size()) fresh_[num_fresh_++] = now_;
  }
}

// On their way are the same transfers, and come in the same order.
bool ContendedLivePlan::SameCrossings(const ContendedState& before) const {
  if (now_.crossing.size() != before.crossing.size()) return false;
  const auto in_order = [](const ContendedState& state, std::vector<Crossing>& crossing) {
    crossing = state.crossing;
    std::sort(crossing.begin(), crossing.end(), [](const Crossing& a, const Crossing& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.number < b.number;
    });
    for (Crossing& one : crossing) one.number = 0;
  };
  in_order(now_, crossing_);
  in_order(before, crossing_before_);
  return crossing_ == crossing_before_;
}

// From now_ on everything happens as it does from a state without the change, after as many finishes.
bool ContendedLivePlan::GoesOnLike(const ContendedState& before) const {
  if (now_.running.empty() || now_.running.size() != before.running.size()) return false;
  if (now_.flows != before.flows || !SameCrossings(before)) return false;
  for (const auto& running : now_.running) {
    if (std::find(before.running.begin(), before.running.end(), running) == before.running.end()) return false;
  }
  double next = now_.running.front().first;
  if (!now_.crossing.empty()) next = std::min(next, now_.crossing.front().begin);
  for (std::size_t c = 0; c < now_.channel_free.size(); ++c) {
    if (std::max(now_.channel_free[c], next) != std::max(before.channel_free[c], next)) return false;
  }
  const auto begun = [this](int group) { return now_.waiting[Index(group)] == 0; };
  if (!std::all_of(wake_.begin(), wake_.end(), begun)) return false;
  for (const Undo& undo : undo_) {
    const auto it = [&undo](const auto& running) { return running.second == undo.group; };
    if (!begun(undo.group) || std::any_of(now_.running.begin(), now_.running.end(), it)) return false;
  }
  if (now_.waiting != before.waiting) return false;
  for (std::size_t group = 0; group < now_.start.size(); ++group) {
    if (now_.waiting[group] != 0 && now_.start[group] != before.start[group]) return false;
  }
  return true;
}

double ContendedLivePlan::InputsDone(int group) const {
  double done = kBeforeAll;
  for (const GroupEdge& edge : costed_.Predecessors(group)) done = std::max(done, finish_[Index(edge.group)]);
  return done;
}

bool ContendedLivePlan::FirstOnAUnit(int group) const {
  for (const std::int32_t unit : UnitsOf(Device(group))) {
    if (first_on_[Index(unit)] == group) return true;
  }
  return std::find(first_before_.begin(), first_before_.end(), group) != first_before_.end();
}

// Until then all happens as it did. Finishes of groups that a changed one reads, or that come before another group on a
// unit than they did, read what has changed; so does a group that begins, where nothing is before it on a unit, as soon
// as its inputs are done.
double ContendedLivePlan::FirstDifference() const {
  double first = kAfterAll;
  for (const Undo& undo : undo_) {
    if (undo.device >= 0 || !one_device_a_memory_) {
      for (const GroupEdge& edge : costed_.Predecessors(undo.group))
        first = std::min(first, finish_[Index(edge.group)]);
    }
    if (FirstOnAUnit(undo.group)) first = std::min(first, InputsDone(undo.group));
  }
  for (const int group : wake_) {
    if (FirstOnAUnit(group)) first = std::min(first, InputsDone(group));
  }
  for (const int group : wake_up_) first = std::min(first, finish_[Index(group)]);
  return first;
}

// A remembered state before FirstDifference, as it is with the change.
void ContendedLivePlan::ApplyChange(ContendedState& state) const {
  const auto recount = [&](int group) {
    if (seen_[Index(group)] != 0) return;
    seen_[Index(group)] = 1;
    state.waiting[Index(group)] += GroupsBefore(group) - before_[Index(group)];
  };
  for (const Undo& undo : undo_) recount(undo.group);
  for (const int group : wake_) recount(group);
  for (const int group : wake_) seen_[Index(group)] = 0;
  for (const Undo& undo : undo_) seen_[Index(undo.group)] = 0;
}

double ContendedLivePlan::Price(double limit) {
  const double first = FirstDifference();
  std::size_t from = num_kept_ - 1;
  while (from > 0 && kept_[from].time >= first) --from;
  for (const Undo& undo : undo_) {
    stale_.Add(Position(undo.group));
    if (undo.device < 0) continue;
    for (const GroupEdge& edge : costed_.Predecessors(undo.group)) stale_.Add(Position(edge.group));
  }
  for (const int group : wake_up_) stale_.Add(Position(group));
  if (!ChangeRests(std::min(first_, open_[from]), limit, from)) return kAfterAll;
  GoOn(limit, from);
  return as_before_ ? makespan_ : std::max(run_.bound(), now_.makespan);
}

// What is left with the change, of groups at positions from `least` on: those before it have begun where the clock goes
// on, from the remembered state `from`, and are told only if the change is kept. False, and no more is told, where a
// way through a changed group says that the plan ends later than `limit`.
bool ContendedLivePlan::ChangeRests(int least, double limit, std::size_t from) {
  int ways = 0;
  for (int i = costed_.num_groups - 1; !stale_.empty();) {
    i = stale_.TakeLast(i);
    const int group = current_.sequence[Index(i)];
    if (i < least) {
      left_stale_.push_back(group);
      continue;
    }
    double& known = rest_[Index(group)];
    const double rest = Rest(group);
    if (rest == known) continue;
    const bool changed_longer = forced_[Index(group)] != 0 && rest > known;
    rests_before_.push_back({group, known});
    known = rest;
    if (changed_longer && ways++ < kMostWays && WayExceeds(limit, group, from)) {
      stale_.Clear();
      return false;
    }
    HandBack(group);
  }
  return true;
}

// Whether the plan ends later than `limit` by way of the group, were all channels free: from group to group back to
// what comes last, and to one that has begun where the clock goes on. Most limits are exceeded on this way or on none,
// and all ways take a hundred times as long to find.
bool ContendedLivePlan::WayExceeds(double limit, int group, std::size_t from) const {
  const ContendedState& state = kept_[from];
  double way = rest_[Index(group)];
  while (state.waiting[Index(group)] != 0) {
    const int device = Device(group);
    int latest = -1;
    double arrival = std::max(0.0, state.time);
    double between = 0;
    const int units = costed_.topology.UnitsOf(device);
    for (int unit = 0; unit < units; ++unit) {
      const int previous = previous_[Slot(group, unit)];
      if (previous < 0 || finish_[Index(previous)] <= arrival) continue;
      latest = previous;
      arrival = finish_[Index(previous)];
    }
    for (const GroupEdge& edge : costed_.Predecessors(group)) {
      const LeastTransfer& transfer = transfers_[costed_.topology.Pair(Device(edge.group), device)];
      const double seconds = transfer.latency + edge.bytes * transfer.seconds_per_byte;
      if (finish_[Index(edge.group)] + seconds <= arrival) continue;
      latest = edge.group;
      arrival = finish_[Index(edge.group)] + seconds;
      between = seconds;
    }
    if (latest < 0) return (way + arrival) * kBelowRounding > limit;
    way += SecondsOf(latest) + between;
    group = latest;
  }
  return (way + (from == 0 ? 0.0 : state.start[Index(group)])) * kBelowRounding > limit;
}

// What has grown may stay as it is, for these are bounds, and is handed on no further: most of what a change touches
// grows a little, and a plan that is kept has all groups before it.
void ContendedLivePlan::LowerRests() {
  for (int i = costed_.num_groups - 1; !stale_.empty();) {
    i = stale_.TakeLast(i);
    const int group = current_.sequence[Index(i)];
    const double rest = Rest(group);
    if (rest >= rest_[Index(group)]) continue;
    rest_[Index(group)] = rest;
    HandBack(group);
  }
}

void ContendedLivePlan::FindRests() {
  for (int position = costed_.num_groups - 1; position >= 0; --position) {
    const int group = current_.sequence[Index(position)];
    rest_[Index(group)] = Rest(group);
  }
}

// To those whose rest depends on the group's.
void ContendedLivePlan::HandBack(int group) {
  for (const GroupEdge& edge : costed_.Predecessors(group)) stale_.Add(Position(edge.group));
  const int units = costed_.topology.UnitsOf(Device(group));
  for (int unit = 0; unit < units; ++unit) {
    const int previous = previous_[Slot(group, unit)];
    if (previous >= 0) stale_.Add(Position(previous));
  }
}

void ContendedLivePlan::Keep() {
  if (changed()) Commit();
}

void ContendedLivePlan::Commit() {
  for (const int group : left_stale_) stale_.Add(Position(group));
  LowerRests();
  for (int group = 0; group < costed_.num_groups; ++group) {
    const bool began = (from_ == 0 || kept_[from_].waiting[Index(group)] != 0) && now_.waiting[Index(group)] == 0;
    if (began) finish_[Index(group)] = now_.start[Index(group)] + SecondsOf(group);
  }
  if (!as_before_) {
    num_kept_ = num_fresh_;
    makespan_ = now_.makespan;
  }
  for (std::size_t i = 0; i <= from_; ++i) ApplyChange(kept_[i]);
  for (std::size_t i = from_ + 1; i < num_fresh_; ++i) std::swap(kept_[i], fresh_[i]);
  int position = 0;
  for (std::size_t i = 0; i < num_kept_; ++i) {
    while (position < costed_.num_groups && kept_[i].waiting[Index(current_.sequence[Index(position)])] == 0)
      ++position;
    open_[i] = i == 0 ? 0 : position;
  }
  for (const Undo& undo : undo_) before_[Index(undo.group)] = GroupsBefore(undo.group);
  for (const int group : wake_) before_[Index(group)] = GroupsBefore(group);
  first_before_ = first_on_;
  Forget();
}

void ContendedLivePlan::TakeBack() {
  for (auto old = rests_before_.rbegin(); old != rests_before_.rend(); ++old) rest_[Index(old->group)] = old->seconds;
  Revert();
  Forget();
}

void ContendedLivePlan::Forget() {
  Settle();
  left_stale_.clear();
  rests_before_.clear();
}

void ContendedLivePlan::FindCritical() {
  FindRests();
  run_.TraceInto(&causes_);
  const ChainedPlan plan = Chains();
  now_ = kept_.front();
  run_.Begin(plan, now_);
  while (run_.Step(plan, now_)) {
  }
  run_.TraceInto(nullptr);
  std::fill(critical_.begin(), critical_.end(), 0);
  for (int group = 0; group < costed_.num_groups; ++group) {
    if (now_.start[Index(group)] + SecondsOf(group) >= now_.makespan) Mark(group);
  }
}

// Marks the group, and what it waited for, back to the start.
void ContendedLivePlan::Mark(int cause) {
  while (cause != -1) {
    if (cause < 0) {
      const ContendedRun::TracedTransfer& transfer = run_.traced()[Index(-2 - cause)];
      if (transfer.behind >= 0) critical_[Index(transfer.producer)] = 1;
      cause = transfer.behind >= 0 ? -2 - transfer.behind : transfer.producer;
      continue;
    }
    critical_[Index(cause)] = 1;
    cause = causes_[Index(cause)];
  }
}

}  // namespace millrace
