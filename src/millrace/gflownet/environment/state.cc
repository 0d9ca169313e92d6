// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/state.h"

#include <algorithm>
#include <cmath>

namespace millrace {
namespace {

constexpr std::ptrdiff_t kWindow = kReadyWindow;

// By decreasing upward rank.
struct Sooner {
  std::span<const std::int32_t> positions;
  bool operator()(std::int32_t a, std::int32_t b) const {
    return positions[static_cast<std::size_t>(a)] < positions[static_cast<std::size_t>(b)];
  }
};

// The order of a heap whose front is the soonest.
struct Later {
  Sooner sooner;
  bool operator()(std::int32_t a, std::int32_t b) const { return sooner(b, a); }
};

}  // namespace

State::State(const Environment& environment) : environment_(&environment), colocations_(environment.costed()) {
  const CostedGraph& costed = environment.costed();
  const auto groups = static_cast<std::size_t>(costed.num_groups);
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  const auto units = static_cast<std::size_t>(costed.topology.num_units);
  assignment_.placement.resize(groups);
  assignment_.sequence.reserve(groups);
  ready_.reserve(groups);
  waiting_.resize(groups);
  arrivals_.resize(groups * devices);
  input_weights_.resize(groups * devices);
  finish_.resize(groups);
  unit_free_.resize(units);
  device_free_.resize(devices);
  unit_last_.resize(units);
  placed_successors_.resize(groups);
  placed_on_.resize(devices);
  removable_.reserve(groups);
  removable_at_.resize(groups);
  if (costed.topology.proxy == Proxy::kContended) channels_.emplace(costed);
  Clear();
}

void State::Clear() {
  const CostedGraph& costed = environment_->costed();
  std::fill(assignment_.placement.begin(), assignment_.placement.end(), -1);
  assignment_.sequence.clear();
  ready_.clear();
  std::fill(arrivals_.begin(), arrivals_.end(), 0.0);
  std::fill(input_weights_.begin(), input_weights_.end(), 0.0);
  std::fill(finish_.begin(), finish_.end(), 0.0);
  std::fill(unit_free_.begin(), unit_free_.end(), 0.0);
  std::fill(device_free_.begin(), device_free_.end(), 0.0);
  std::fill(unit_last_.begin(), unit_last_.end(), -1);
  std::fill(placed_successors_.begin(), placed_successors_.end(), 0);
  std::fill(placed_on_.begin(), placed_on_.end(), 0);
  colocations_.Clear();
  removable_.clear();
  std::fill(removable_at_.begin(), removable_at_.end(), -1);
  makespan_ = 0;
  for (int group = 0; group < costed.num_groups; ++group) {
    const auto waiting = static_cast<std::int32_t>(costed.Predecessors(group).size());
    waiting_[static_cast<std::size_t>(group)] = waiting;
    if (waiting == 0) ready_.push_back(group);
  }
  std::sort(ready_.begin(), ready_.end(), Sooner{environment_->rank_positions()});  // which is a heap, too
  if (channels_) channels_->Clear();
}

bool State::MayRun(int group, int device) const {
  return std::isfinite(environment_->costed().Seconds(group, device)) && colocations_.Allows(group, device);
}

void State::Append(Action action) {
  const CostedGraph& costed = environment_->costed();
  const auto group = static_cast<std::size_t>(action.group);
  const auto device = static_cast<std::size_t>(action.device);
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  const double finish = EarliestFinish(action.group, action.device);
  if (channels_) channels_->Reserve(action.group, action.device, assignment_.placement, finish_);
  finish_[group] = finish;
  makespan_ = std::max(makespan_, finish);
  assignment_.placement[group] = action.device;
  assignment_.sequence.push_back(action.group);
  ++placed_on_[device];
  colocations_.Place(action.group, action.device);

  DropReady(action.group);
  for (const GroupEdge& edge : costed.Predecessors(action.group)) {
    if (placed_successors_[static_cast<std::size_t>(edge.group)]++ == 0) DropRemovable(edge.group);
  }

  const Topology& topology = costed.topology;
  for (const std::int32_t taken : topology.UnitsAt(action.device)) {
    const auto unit = static_cast<std::size_t>(taken);
    const std::int32_t before = unit_last_[unit];
    if (before >= 0) {
      DropRemovable(before);
    }
    unit_last_[unit] = action.group;
    unit_free_[unit] = finish;
  }
  AddRemovable(action.group);
  for (std::size_t d = 0; d < devices; ++d) {
    double free = 0;
    for (const std::int32_t unit : topology.UnitsAt(static_cast<int>(d)))
      free = std::max(free, unit_free_[static_cast<std::size_t>(unit)]);
    device_free_[d] = free;
  }

  const double* const latency = topology.latency.data() + device * devices;
  const double* const seconds_per_byte = topology.seconds_per_byte.data() + device * devices;
  for (const GroupEdge& edge : costed.Successors(action.group)) {
    const auto successor = static_cast<std::size_t>(edge.group);
    double* const arrivals = arrivals_.data() + successor * devices;
    for (std::size_t d = 0; d < devices; ++d)
      arrivals[d] = std::max(arrivals[d], finish + (latency[d] + edge.bytes * seconds_per_byte[d]));
    input_weights_[successor * devices + device] += environment_->EdgeWeight(edge.bytes);
    if (--waiting_[successor] == 0) AddReady(edge.group);
  }
  if (channels_) AskChannels();
}

void State::AskChannels() {
  const auto devices = static_cast<std::size_t>(environment_->num_devices());
  const std::size_t asked = std::min<std::size_t>(ready_.size(), kReadyWindow);
  for (std::size_t i = 0; i < asked; ++i) {
    const auto row = static_cast<std::size_t>(ready_[i]) * devices;
    channels_->Arrivals(ready_[i], assignment_.placement, finish_, std::span(arrivals_).subspan(row, devices));
  }
}

// Both take time in the window and the logarithm of the others, however wide the graph is.
void State::AddReady(std::int32_t group) {
  const Sooner sooner{environment_->rank_positions()};
  const auto before = static_cast<std::ptrdiff_t>(ready_.size());
  ready_.push_back(group);
  const auto window_end = ready_.begin() + std::min(before, kWindow);
  const auto at = std::lower_bound(ready_.begin(), window_end, group, sooner);
  if (before < kWindow) {
    std::rotate(at, window_end, ready_.end());
    return;
  }
  if (at != window_end) {  // the last of the window leaves it
    ready_.back() = *(window_end - 1);
    std::move_backward(at, window_end - 1, window_end);
    *at = group;
  }
  std::push_heap(window_end, ready_.end(), Later{sooner});
}

void State::DropReady(std::int32_t group) {
  const Sooner sooner{environment_->rank_positions()};
  const auto window_end = ready_.begin() + std::min(static_cast<std::ptrdiff_t>(ready_.size()), kWindow);
  const auto at = std::lower_bound(ready_.begin(), window_end, group, sooner);
  if (at == window_end || *at != group) {  // a plan that is followed may take what is not on offer
    *std::find(window_end, ready_.end(), group) = ready_.back();
    ready_.pop_back();
    std::make_heap(window_end, ready_.end(), Later{sooner});
    return;
  }
  std::move(at + 1, window_end, at);
  if (window_end != ready_.end()) {
    std::pop_heap(window_end, ready_.end(), Later{sooner});
    *(window_end - 1) = ready_.back();
  }
  ready_.pop_back();
}

void State::AddRemovable(int group) {
  removable_at_[static_cast<std::size_t>(group)] = static_cast<std::int32_t>(removable_.size());
  removable_.push_back(group);
}

void State::DropRemovable(int group) {
  std::int32_t& at = removable_at_[static_cast<std::size_t>(group)];
  if (at < 0) return;
  const std::int32_t moved = removable_.back();
  removable_[static_cast<std::size_t>(at)] = moved;
  removable_at_[static_cast<std::size_t>(moved)] = at;
  removable_.pop_back();
  at = -1;
}

}  // namespace millrace
