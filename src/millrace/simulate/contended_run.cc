// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/contended_run.h"

#include <algorithm>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

// Bounds are sums in another order than the timeline's, so the last bits differ; no plan may seem slower for that.
constexpr double kBelow = 1 - 1e-9;

std::size_t NumChannels(const Topology& topology) {
  return Index(*std::max_element(topology.channel.begin(), topology.channel.end())) + 1;
}

// A heap whose first entry finishes first.
struct LaterFinish {
  const int* position;
  bool operator()(const std::pair<double, int>& a, const std::pair<double, int>& b) const {
    return a.first != b.first ? a.first > b.first : position[a.second] > position[b.second];
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
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer >= 0 && tensor.num_readers > 0) ++made_offsets_[Index(tensor.producer) + 1];
  }
  for (std::size_t g = 1; g < made_offsets_.size(); ++g) made_offsets_[g] += made_offsets_[g - 1];
  made_.resize(Index(made_offsets_.back()));
  std::vector<std::int32_t> filled(made_offsets_.begin(), made_offsets_.end() - 1);
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer < 0 || tensor.num_readers == 0) continue;
    Made& made = made_[Index(filled[Index(tensor.producer)]++)];
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
  state.channel_free.assign(NumChannels(costed_.topology), 0.0);
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
  if (plan.rest != nullptr) bound_ = std::max(bound_, (start + plan.rest[Index(group)]) * kBelow);
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

bool ContendedRun::Step(const ChainedPlan& plan, ContendedState& state) {
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
  for (std::int32_t made = made_offsets_[Index(group)]; made < last; ++made)
    Send(plan, state, group, made_[Index(made)], time);
  return true;
}

// When the tensor is there, its channel being taken for it.
double ContendedRun::Serve(ContendedState& state, const Made& made, int from, int to, double time) {
  double& channel = state.channel_free[Index(costed_.topology.channel[costed_.topology.Pair(from, to)])];
  channel = std::max(channel, time) + costed_.TransferSeconds(made.bytes, from, to);
  return channel;
}

void ContendedRun::Send(const ChainedPlan& plan, ContendedState& state, int group, const Made& made, double time) {
  const Topology& topology = costed_.topology;
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
    const int to = first_device_[memory];
    if (causes_ != nullptr) {
      const std::size_t channel = Index(topology.channel[topology.Pair(from, to)]);
      const bool waits = state.channel_free[channel] > time;
      transfer_to_[memory] = static_cast<std::int32_t>(traced_.size());
      const double begin = std::max(state.channel_free[channel], time);
      traced_.push_back({group, waits ? last_on_channel_[channel] : -1, to, begin, begin});
      last_on_channel_[channel] = transfer_to_[memory];
    }
    arrival_[memory] = Serve(state, made, from, to, time);
    if (causes_ != nullptr) traced_.back().end = arrival_[memory];
    first_place_[memory] = kNobody;
  }
  for (std::int32_t r = made.first_reader; r < made.last_reader; ++r) {
    const int reader = readers_[Index(r)];
    const int to = plan.placement[reader];
    if (topology.free[topology.Pair(from, to)] != 0) continue;
    const std::size_t memory = Index(topology.memory_of[Index(to)]);
    Settle(plan, state, reader, arrival_[memory], causes_ == nullptr ? -1 : -2 - transfer_to_[memory]);
  }
}

}  // namespace millrace
