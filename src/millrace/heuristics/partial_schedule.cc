// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/partial_schedule.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace millrace {
namespace {

// A gang whose units' gaps keep missing each other settles for the time after all of them, so that one question stays
// cheap however many gaps there are.
constexpr int kMostGangTries = 64;

}  // namespace

PartialSchedule::PartialSchedule(const CostedGraph& costed, Gaps gaps)
    : costed_(costed),
      gaps_(gaps),
      topological_position_(static_cast<std::size_t>(costed.num_groups)),
      colocations_(costed),
      units_(static_cast<std::size_t>(costed.topology.num_units)),
      memory_(costed),
      arrivals_(static_cast<std::size_t>(costed.num_devices)) {
  std::int32_t next = 0;
  for (const std::int32_t group : costed.topological_order)
    topological_position_[static_cast<std::size_t>(group)] = next++;
  if (costed.topology.proxy == Proxy::kContended) channels_.emplace(costed);
  Clear();
}

void PartialSchedule::Clear() {
  const auto groups = static_cast<std::size_t>(costed_.num_groups);
  colocations_.Clear();
  for (GapList& unit : units_) unit.Clear();
  unit_end_.assign(units_.size(), 0.0);
  memory_.Clear();
  if (channels_) channels_->Clear();
  considered_ = -1;
  placement_.assign(groups, -1);
  start_.assign(groups, 0.0);
  finish_.assign(groups, 0.0);
  makespan_ = 0;
}

void PartialSchedule::Consider(int group) {
  considered_ = group;
  if (channels_) return channels_->Arrivals(group, placement_, finish_, arrivals_);
  std::fill(arrivals_.begin(), arrivals_.end(), 0.0);
  const auto devices = static_cast<std::size_t>(costed_.num_devices);
  for (const GroupEdge& edge : costed_.Predecessors(group)) {
    const double made = finish_[static_cast<std::size_t>(edge.group)];
    const std::size_t row = costed_.topology.Pair(placement_[static_cast<std::size_t>(edge.group)], 0);
    for (std::size_t d = 0; d < devices; ++d) {
      const double arrival =
          made + (costed_.topology.latency[row + d] + edge.bytes * costed_.topology.seconds_per_byte[row + d]);
      arrivals_[d] = std::max(arrivals_[d], arrival);
    }
  }
}

double PartialSchedule::DeviceEnd(int device) const {
  double end = 0;
  for (const std::int32_t unit : costed_.topology.UnitsAt(device))
    end = std::max(end, unit_end_[static_cast<std::size_t>(unit)]);
  return end;
}

double PartialSchedule::EarliestStart(int device) const {
  const double ready = Arrival(device);
  if (gaps_ == Gaps::kLeave) return std::max(ready, DeviceEnd(device));
  const double seconds = costed_.Seconds(considered_, device);
  const std::span<const std::int32_t> units = costed_.topology.UnitsAt(device);
  if (units.size() == 1) return units_[static_cast<std::size_t>(units.front())].EarliestFit(ready, seconds);
  double start = ready;
  for (int tries = 0; tries < kMostGangTries; ++tries) {
    const double before = start;
    for (const std::int32_t unit : units) start = units_[static_cast<std::size_t>(unit)].EarliestFit(start, seconds);
    if (start == before) return start;
  }
  return std::max(ready, DeviceEnd(device));
}

bool PartialSchedule::Runs(int group, int device) const {
  return costed_.Seconds(group, device) != kCannotRun && colocations_.Allows(group, device);
}

bool PartialSchedule::MayRun(int group, int device) const {
  return Runs(group, device) && memory_.Fullness(group, device) <= 1;
}

int PartialSchedule::LeastOverfull(int group) const {
  int best = -1;
  double least = 0;
  for (int device = 0; device < costed_.num_devices; ++device) {
    if (!Runs(group, device)) continue;
    const double fullness = memory_.Fullness(group, device);
    if (best >= 0 && !(fullness < least)) continue;
    best = device;
    least = fullness;
  }
  return best;
}

void PartialSchedule::Place(int device) {
  const auto group = static_cast<std::size_t>(considered_);
  const double start = EarliestStart(device);
  const double finish = start + costed_.Seconds(considered_, device);
  for (const std::int32_t unit : costed_.topology.UnitsAt(device)) {
    if (gaps_ == Gaps::kFill) units_[static_cast<std::size_t>(unit)].Occupy(start, finish);
    double& end = unit_end_[static_cast<std::size_t>(unit)];
    end = std::max(end, finish);
  }
  colocations_.Place(considered_, device);
  memory_.Place(considered_, device);
  if (channels_) channels_->Reserve(considered_, device, placement_, finish_);
  placement_[group] = device;
  start_[group] = start;
  finish_[group] = finish;
  makespan_ = std::max(makespan_, finish);
}

PlannedAssignment PartialSchedule::Finish() const {
  PlannedAssignment planned;
  planned.makespan = makespan_;
  planned.assignment.placement = placement_;
  std::vector<int>& sequence = planned.assignment.sequence;
  sequence.assign(costed_.topological_order.begin(), costed_.topological_order.end());
  const auto key = [this](int group) {
    const auto g = static_cast<std::size_t>(group);
    return std::tuple(start_[g], finish_[g], topological_position_[g]);
  };
  std::sort(sequence.begin(), sequence.end(), [&key](int a, int b) { return key(a) < key(b); });
  return planned;
}

}  // namespace millrace
