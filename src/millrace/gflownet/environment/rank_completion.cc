// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/rank_completion.h"

#include <algorithm>
#include <limits>

namespace millrace {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

}  // namespace

RankCompletion::RankCompletion(const Environment& environment)
    : environment_(environment),
      devices_(static_cast<std::size_t>(environment.num_devices())),
      group_(environment.rank_order().groups()),
      device_free_(devices_),
      unit_free_(static_cast<std::size_t>(environment.costed().topology.num_units)),
      colocations_(environment.costed()) {
  const CostedGraph& costed = environment.costed();
  arrivals_.resize(group_.size() * devices_);
  for (const std::int32_t group : group_) {
    for (int device = 0; device < costed.num_devices; ++device) {
      seconds_.push_back(costed.Seconds(group, device));
      optimistic_.push_back(environment.OptimisticCost(group, device));
    }
  }
  const Topology& topology = costed.topology;
  shared_units_ = topology.num_units != topology.num_devices;
  for (int device = 0; device < costed.num_devices; ++device)
    shared_units_ = shared_units_ || topology.UnitsOf(device) != 1;
}

double RankCompletion::Makespan(const State& state, Action action, CompletionRule rule) {
  return Finish(state, action, rule, nullptr);
}

Assignment RankCompletion::Plan(const State& state, Action action, CompletionRule rule) {
  Assignment plan = state.assignment();
  Finish(state, action, rule, &plan);
  return plan;
}

double RankCompletion::Finish(const State& state, Action action, CompletionRule rule, Assignment* plan) {
  const CostedGraph& costed = environment_.costed();
  for (std::size_t at = 0; at < group_.size(); ++at) {
    if (state.placed(group_[at])) continue;
    for (std::size_t d = 0; d < devices_; ++d)
      arrivals_[at * devices_ + d] = state.Arrival(group_[at], static_cast<int>(d));
  }
  for (std::size_t d = 0; d < devices_; ++d) device_free_[d] = state.DeviceFree(static_cast<int>(d));
  if (shared_units_) {
    for (std::size_t unit = 0; unit < unit_free_.size(); ++unit)
      unit_free_[unit] = state.UnitFree(static_cast<int>(unit));
  }
  const bool colocated = costed.num_colocations > 0;
  if (colocated) colocations_ = state.colocations();

  const auto next = static_cast<std::size_t>(environment_.rank_positions()[static_cast<std::size_t>(action.group)]);
  double makespan = std::max(state.makespan(), Place(next, action.device));
  if (plan != nullptr) {
    plan->placement[static_cast<std::size_t>(action.group)] = action.device;
    plan->sequence.push_back(action.group);
  }
  for (std::size_t at = 0; at < group_.size(); ++at) {
    const std::int32_t group = group_[at];
    if (at == next || state.placed(group)) continue;
    std::size_t best = devices_;
    double least = kNowhere;
    for (std::size_t d = 0; d < devices_; ++d) {
      const auto device = static_cast<int>(d);
      double cost = std::max(arrivals_[at * devices_ + d], device_free_[d]) + seconds_[at * devices_ + d];
      if (rule == CompletionRule::kOnward) cost += optimistic_[at * devices_ + d];
      if (colocated) {
        if (cost == kNowhere || !colocations_.Allows(group, device)) continue;
        cost += colocations_.Bound(group, device);
      }
      // Of equally good devices that which is free last, so that how devices are numbered does not matter.
      if (cost > least || (cost == least && (best == devices_ || device_free_[d] <= device_free_[best]))) continue;
      best = d;
      least = cost;
    }
    makespan = std::max(makespan, Place(at, static_cast<int>(best)));
    if (plan == nullptr) continue;
    plan->placement[static_cast<std::size_t>(group)] = static_cast<int>(best);
    plan->sequence.push_back(group);
  }
  return makespan;
}

// Returns its finish.
double RankCompletion::Place(std::size_t at, int device) {
  const CostedGraph& costed = environment_.costed();
  const Topology& topology = costed.topology;
  const auto on = static_cast<std::size_t>(device);
  const double finish = std::max(arrivals_[at * devices_ + on], device_free_[on]) + seconds_[at * devices_ + on];
  if (shared_units_) {
    for (const std::int32_t unit : topology.UnitsAt(device)) unit_free_[static_cast<std::size_t>(unit)] = finish;
    for (std::size_t d = 0; d < devices_; ++d) {
      double free = 0;
      for (const std::int32_t unit : topology.UnitsAt(static_cast<int>(d)))
        free = std::max(free, unit_free_[static_cast<std::size_t>(unit)]);
      device_free_[d] = free;
    }
  } else {
    device_free_[on] = finish;
  }
  if (costed.num_colocations > 0) colocations_.Place(group_[at], device);
  const double* const latency = topology.latency.data() + on * devices_;
  const double* const seconds_per_byte = topology.seconds_per_byte.data() + on * devices_;
  for (const RankOrder::Reader& reader : environment_.rank_order().Readers(at)) {
    double* const arrivals = arrivals_.data() + static_cast<std::size_t>(reader.rank) * devices_;
    for (std::size_t d = 0; d < devices_; ++d)
      arrivals[d] = std::max(arrivals[d], finish + (latency[d] + reader.bytes * seconds_per_byte[d]));
  }
  return finish;
}

}  // namespace millrace
