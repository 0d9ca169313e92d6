// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/contended_run.h"

#include <algorithm>
#include <cmath>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

// A heap whose first entry finishes first.
struct LaterFinish {
  const int* position;
  bool operator()(const std::pair<double, int>& a, const std::pair<double, int>& b) const {
    return a.first != b.first ? a.first > b.first : position[a.second] > position[b.second];
  }
};

// A heap whose first entry is let in first.
struct LaterBegin {
  bool operator()(const Crossing& a, const Crossing& b) const {
    return a.begin != b.begin ? a.begin > b.begin : a.number > b.number;
  }
};

}  // namespace

ContendedRun::ContendedRun(const CostedGraph& costed)
    : costed_(costed),
      made_offsets_(Index(costed.num_groups) + 1, 0),
      inputs_(Index(costed.num_groups), 0),
      first_place_(Index(costed.topology.num_memories), kNobody),
      first_device_(Index(costed.topology.num_memories), 0),
      arrival_(Index(costed.topology.num_memories), 0.0) {
  if (costed.topology.sharing == Sharing::kFair) fair_share_.emplace(costed.topology);
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer >= 0 && tensor.num_readers > 0) ++made_offsets_[Index(tensor.producer) + 1];
  }
  for (std::size_t g = 1; g < made_offsets_.size(); ++g) made_offsets_[g] += made_offsets_[g - 1];
  made_.resize(Index(made_offsets_.back()));
  std::vector<std::int32_t> filled(made_offsets_.begin(), made_offsets_.end() - 1);
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer < 0 || tensor.num_readers == 0) continue;
    Made& made = made_[Index(filled[Index(tensor.producer)]++)];
    made.producer = tensor.producer;
    made.bytes = tensor.bytes;
    made.first_reader = static_cast<std::int32_t>(readers_.size());
    for (const std::int32_t reader : costed.Readers(tensor)) {
      readers_.push_back(reader);
      ++inputs_[Index(reader)];
    }
    made.last_reader = static_cast<std::int32_t>(readers_.size());
  }
}

void ContendedRun::Begin(const ChainedPlan& plan, ContendedState& state) {
  const std::size_t groups = Index(costed_.num_groups);
  state.start.assign(groups, 0.0);
  state.channel_free.assign(costed_.topology.NumChannels(), 0.0);
  state.crossing.clear();
  state.num_sent = 0;
  FairShare::Clear(state.flows);
  state.running.clear();
  state.running.reserve(Index(costed_.topology.num_units));
  state.makespan = 0;
  state.time = -1;
  bound_ = 0;
  if (causes_ != nullptr) {
    causes_->assign(groups, -1);
    traced_.clear();
    last_on_channel_.assign(state.channel_free.size(), -1);
    transfer_to_.assign(first_place_.size(), -1);
  }
  for (int group = 0; group < costed_.num_groups; ++group) {
    if (state.waiting[Index(group)] == 0) BeginGroup(plan, state, group);
  }
}

void ContendedRun::BeginGroup(const ChainedPlan& plan, ContendedState& state, int group) {
  const int device = plan.placement[group];
  const double start = state.start[Index(group)];
  const double finish = start + costed_.Seconds(group, device);
  state.makespan = std::max(state.makespan, finish);
  if (plan.rest != nullptr) bound_ = std::max(bound_, (start + plan.rest[Index(group)]) * kBelowRounding);
  state.running.emplace_back(finish, group);
  std::push_heap(state.running.begin(), state.running.end(), LaterFinish{plan.position});
}

// One of the things the group waits for happens at `time`.
void ContendedRun::Settle(const ChainedPlan& plan, ContendedState& state, int group, double time, std::int32_t cause) {
  double& start = state.start[Index(group)];
  if (causes_ != nullptr && (time > start || (*causes_)[Index(group)] == -1)) (*causes_)[Index(group)] = cause;
  start = std::max(start, time);
  if (--state.waiting[Index(group)] == 0) BeginGroup(plan, state, group);
}

bool ContendedRun::CrossingComesFirst(const ContendedState& state) const {
  if (state.crossing.empty()) return false;
  return state.running.empty() || state.crossing.front().begin < state.running.front().first;
}

bool ContendedRun::Step(const ChainedPlan& plan, ContendedState& state) {
  if (fair_share_) {
    MoveFlows(plan, state);
  } else {
    while (CrossingComesFirst(state)) Cross(plan, state);
  }
  if (state.running.empty()) return false;
  std::pop_heap(state.running.begin(), state.running.end(), LaterFinish{plan.position});
  const auto [time, group] = state.running.back();
  state.running.pop_back();
  state.time = time;
  const int units = costed_.topology.UnitsOf(plan.placement[group]);
  const int* const next = plan.next + Index(group) * plan.most_units;
  for (int unit = 0; unit < units; ++unit) {
    if (next[unit] >= 0) Settle(plan, state, next[unit], time, group);
  }
  const std::int32_t last = made_offsets_[Index(group) + 1];
  for (std::int32_t made = made_offsets_[Index(group)]; made < last; ++made) Send(plan, state, group, made, time);
  return true;
}

// When the channel has let through what comes to it at `time`.
double ContendedRun::Serve(ContendedState& state, std::int32_t channel, double seconds, double time) {
  double& free = state.channel_free[Index(channel)];
  free = std::max(free, time) + seconds;
  return free;
}

// Before it is served. Its end is not known yet.
std::int32_t ContendedRun::NoteTransfer(const ContendedState& state, int producer, int to, std::int32_t channel,
                                        double time) {
  const bool waits = state.channel_free[Index(channel)] > time;
  const double begin = std::max(state.channel_free[Index(channel)], time);
  std::int32_t& last = last_on_channel_[Index(channel)];
  traced_.push_back({producer, waits ? last : -1, to, begin, begin});
  last = static_cast<std::int32_t>(traced_.size()) - 1;
  return last;
}

// When it is there, or kNotYet. Over a link of unlimited bandwidth it meets nobody.
double ContendedRun::SendFairly(ContendedState& state, int group, std::int32_t number, int from, int to, double time) {
  const Topology& topology = costed_.topology;
  const double seconds = costed_.TransferSeconds(made_[Index(number)].bytes, from, to);
  const bool meets = topology.seconds_per_byte[topology.Pair(from, to)] > 0;
  std::int32_t traced = -1;
  if (causes_ != nullptr) {
    traced = static_cast<std::int32_t>(traced_.size());
    traced_.push_back({group, meets ? LastBeside(state.flows, from, to) : -1, to, time, time + seconds});
  }
  if (!meets) return time + seconds;
  fair_share_->Add({number, from, to, traced, seconds}, time, state.flows);
  return kNotYet;
}

void ContendedRun::Send(const ChainedPlan& plan, ContendedState& state, int group, std::int32_t number, double time) {
  const Topology& topology = costed_.topology;
  const Made& made = made_[Index(number)];
  const int from = plan.placement[group];
  bool away = false;
  for (std::int32_t r = made.first_reader; r < made.last_reader; ++r) {
    const int reader = readers_[Index(r)];
    const int to = plan.placement[reader];
    if (topology.free[topology.Pair(from, to)] != 0) {
      Settle(plan, state, reader, time, group);
      continue;
    }
    away = true;
    const std::size_t memory = Index(topology.memory_of[Index(to)]);
    if (plan.position[reader] >= first_place_[memory]) continue;
    first_place_[memory] = plan.position[reader];
    first_device_[memory] = to;
  }
  if (!away) return;
  for (std::size_t memory = 0; memory < first_place_.size(); ++memory) {
    if (first_place_[memory] == kNobody) continue;
    first_place_[memory] = kNobody;
    const int to = first_device_[memory];
    const std::size_t pair = topology.Pair(from, to);
    if (fair_share_) {
      arrival_[memory] = SendFairly(state, group, number, from, to, time);
      if (causes_ != nullptr) transfer_to_[memory] = static_cast<std::int32_t>(traced_.size()) - 1;
      continue;
    }
    const std::int32_t channel = topology.channel[pair];
    const double begin = std::max(state.channel_free[Index(channel)], time);
    const std::int32_t traced = causes_ == nullptr ? -1 : NoteTransfer(state, group, to, channel, time);
    arrival_[memory] = Serve(state, channel, costed_.TransferSeconds(made.bytes, from, to), time);
    if (traced >= 0) {
      traced_.back().end = arrival_[memory];
      transfer_to_[memory] = traced;
    }
    if (topology.EntryOf(pair) < 0) continue;
    arrival_[memory] = kNotYet;
    state.crossing.push_back({begin, state.num_sent++, number, from, to, traced});
    std::push_heap(state.crossing.begin(), state.crossing.end(), LaterBegin{});
  }
  for (std::int32_t r = made.first_reader; r < made.last_reader; ++r) {
    const int reader = readers_[Index(r)];
    const int to = plan.placement[reader];
    const std::size_t memory = Index(topology.memory_of[Index(to)]);
    if (topology.free[topology.Pair(from, to)] != 0 || arrival_[memory] == kNotYet) continue;
    Settle(plan, state, reader, arrival_[memory], causes_ == nullptr ? -1 : -2 - transfer_to_[memory]);
  }
}

// The transfer that comes next to its entry channel.
void ContendedRun::Cross(const ChainedPlan& plan, ContendedState& state) {
  std::pop_heap(state.crossing.begin(), state.crossing.end(), LaterBegin{});
  Crossing next = state.crossing.back();
  state.crossing.pop_back();
  const Made& made = made_[Index(next.made)];
  const Topology& topology = costed_.topology;
  const std::int32_t entry = topology.EntryOf(topology.Pair(next.from, next.to));
  const bool held_up = causes_ != nullptr && state.channel_free[Index(entry)] > next.begin;
  if (held_up) {
    next.traced = NoteTransfer(state, made.producer, next.to, entry, next.begin);
  } else if (causes_ != nullptr) {
    last_on_channel_[Index(entry)] = next.traced;
  }
  const double seconds = costed_.TransferSeconds(made.bytes, next.from, next.to);
  const double arrival = Serve(state, entry, seconds, next.begin);
  if (held_up) traced_.back().end = arrival;
  Arrive(plan, state, next, arrival);
}

// At the memory it is for. All its readers there are told.
void ContendedRun::Arrive(const ChainedPlan& plan, ContendedState& state, const Crossing& transfer, double time) {
  const Topology& topology = costed_.topology;
  const Made& made = made_[Index(transfer.made)];
  const std::int32_t memory = topology.memory_of[Index(transfer.to)];
  for (std::int32_t r = made.first_reader; r < made.last_reader; ++r) {
    const int reader = readers_[Index(r)];
    const int to = plan.placement[reader];
    if (topology.memory_of[Index(to)] != memory || topology.free[topology.Pair(transfer.from, to)] != 0) continue;
    Settle(plan, state, reader, time, causes_ == nullptr ? -1 : -2 - transfer.traced);
  }
}

// Of the traced transfers that move, the last that shares a channel with the pair; -1: none.
std::int32_t ContendedRun::LastBeside(const Flows& flows, int from, int to) const {
  const Topology& topology = costed_.topology;
  const std::size_t pair = topology.Pair(from, to);
  std::int32_t last = -1;
  for (const Flow& flow : flows.moving) {
    const std::size_t other = topology.Pair(flow.from, flow.to);
    const bool entering = topology.EntryOf(other) >= 0 && topology.EntryOf(other) == topology.EntryOf(pair);
    if (entering || topology.channel[other] == topology.channel[pair]) last = flow.traced;
  }
  return last;
}

// Flows that end before the next group finishes.
void ContendedRun::MoveFlows(const ChainedPlan& plan, ContendedState& state) {
  while (std::isfinite(state.flows.next_end)) {
    const double end = state.flows.next_end;
    if (!state.running.empty() && end >= state.running.front().first) return;
    const Flow flow = fair_share_->TakeFirst(state.flows);
    if (causes_ != nullptr) traced_[Index(flow.traced)].end = end;
    Arrive(plan, state, {end, 0, flow.made, flow.from, flow.to, flow.traced}, end);
  }
}

}  // namespace millrace
