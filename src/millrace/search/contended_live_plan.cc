// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/contended_live_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace millrace {
namespace {

constexpr double kBeforeAll = -1;

}  // namespace

ContendedLivePlan::ContendedLivePlan(const CostedGraph& costed)
    : ChangingPlan(costed),
      run_(costed),
      interval_(std::max(kLeastInterval, costed.num_groups / kMostStates + 1)),
      kept_(kMostStates + 1),
      fresh_(kMostStates + 1),
      finish_(Index(costed.num_groups)),
      before_(Index(costed.num_groups)),
      critical_(Index(costed.num_groups)),
      seen_(Index(costed.num_groups)) {}

ChainedPlan ContendedLivePlan::Chains() const {
  return {current_.placement.data(), position_.data(), next_.data(), most_units_};
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
  first.unit_seconds.assign(Index(costed_.topology.num_units), 0.0);
  first.waiting.resize(Index(costed_.num_groups));
  for (int group = 0; group < costed_.num_groups; ++group) {
    before_[Index(group)] = GroupsBefore(group);
    first.waiting[Index(group)] = run_.InputsOf(group) + before_[Index(group)];
    for (const std::int32_t unit : UnitsOf(Device(group))) first.unit_seconds[Index(unit)] += SecondsOf(group);
  }
  first.time = kBeforeAll;
  num_kept_ = 1;
  GoOn(std::numeric_limits<double>::infinity(), 0);
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
  num_from_ = from + 1;
  num_fresh_ = num_from_;
  int left = interval_;
  while (run_.bound() <= limit && run_.Step(plan, now_)) {
    if (--left > 0) continue;
    left = interval_;
    if (num_fresh_ < fresh_.size()) fresh_[num_fresh_++] = now_;
  }
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
  double first = std::numeric_limits<double>::infinity();
  for (const Undo& undo : undo_) {
    for (const GroupEdge& edge : costed_.Predecessors(undo.group)) first = std::min(first, finish_[Index(edge.group)]);
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
  for (const Undo& undo : undo_) {
    if (undo.device < 0 || seen_[Index(undo.group)] != 0) continue;
    seen_[Index(undo.group)] = 1;  // the first entry of a group has the device it comes from
    for (const std::int32_t unit : UnitsOf(undo.device))
      state.unit_seconds[Index(unit)] -= costed_.Seconds(undo.group, undo.device);
    for (const std::int32_t unit : UnitsOf(Device(undo.group)))
      state.unit_seconds[Index(unit)] += SecondsOf(undo.group);
  }
  for (const Undo& undo : undo_) seen_[Index(undo.group)] = 0;
}

double ContendedLivePlan::Price(double limit) {
  const double first = FirstDifference();
  std::size_t from = num_kept_ - 1;
  while (from > 0 && kept_[from].time >= first) --from;
  GoOn(limit, from);
  return std::max(run_.bound(), now_.makespan);
}

void ContendedLivePlan::Keep() {
  if (changed()) Commit();
}

void ContendedLivePlan::Commit() {
  for (std::size_t i = 0; i < num_from_; ++i) ApplyChange(kept_[i]);
  for (std::size_t i = num_from_; i < num_fresh_; ++i) std::swap(kept_[i], fresh_[i]);
  num_kept_ = num_fresh_;
  makespan_ = now_.makespan;
  for (int group = 0; group < costed_.num_groups; ++group)
    finish_[Index(group)] = now_.start[Index(group)] + SecondsOf(group);
  for (const Undo& undo : undo_) before_[Index(undo.group)] = GroupsBefore(undo.group);
  for (const int group : wake_) before_[Index(group)] = GroupsBefore(group);
  first_before_ = first_on_;
  Settle();
}

void ContendedLivePlan::TakeBack() {
  Revert();
  Settle();
}

void ContendedLivePlan::FindCritical() {
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
