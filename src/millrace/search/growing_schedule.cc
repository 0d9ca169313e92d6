// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/growing_schedule.h"

#include <algorithm>

#include "millrace/graph/index.h"

namespace millrace {

GrowingSchedule::GrowingSchedule(const CostedGraph& costed)
    : costed_(costed),
      placement_(Index(costed.num_groups), -1),
      finish_(Index(costed.num_groups), 0.0),
      groups_on_(Index(costed.num_devices), 0),
      unit_free_(Index(costed.topology.num_units), 0.0),
      settled_(Index(costed.num_colocations), -1),
      closed_(Index(costed.num_groups), 0),
      before_(Index(costed.num_groups)),
      free_before_(Index(costed.num_groups) * unit_free_.size()),
      closed_before_(Index(costed.num_groups) * closed_.size()) {
  sequence_.reserve(Index(costed.num_groups));
  for (int group = 0; group < costed.num_groups; ++group)
    waiting_.push_back(static_cast<int>(costed.Predecessors(group).size()));
}

double GrowingSchedule::DeviceFree(int device) const {
  const Topology& topology = costed_.topology;
  double free = 0;
  for (std::int32_t at = topology.device_offsets[Index(device)]; at < topology.device_offsets[Index(device) + 1]; ++at)
    free = std::max(free, unit_free_[Index(topology.device_units[Index(at)])]);
  return free;
}

bool GrowingSchedule::MayRun(int group, int device) const {
  if (costed_.Seconds(group, device) == kCannotRun) return false;
  if (device < 64 && (closed_[Index(group)] >> device & 1) != 0) return false;
  const std::int32_t colocation = costed_.colocation[Index(group)];
  return colocation < 0 || settled_[Index(colocation)] < 0 || settled_[Index(colocation)] == device;
}

void GrowingSchedule::Append(int group, int device, double start) {
  const std::size_t depth = sequence_.size();
  const std::int32_t colocation = costed_.colocation[Index(group)];
  const bool settles = colocation >= 0 && settled_[Index(colocation)] < 0;
  before_[depth] = {last_start_, makespan_, settles};
  std::copy(unit_free_.begin(), unit_free_.end(),
            free_before_.begin() + static_cast<std::ptrdiff_t>(depth * unit_free_.size()));
  std::copy(closed_.begin(), closed_.end(),
            closed_before_.begin() + static_cast<std::ptrdiff_t>(depth * closed_.size()));
  const double finish = start + costed_.Seconds(group, device);
  sequence_.push_back(group);
  placement_[Index(group)] = device;
  scheduled_.Flip(group);
  finish_[Index(group)] = finish;
  last_start_ = start;
  makespan_ = std::max(makespan_, finish);
  if (settles) settled_[Index(colocation)] = device;
  ++groups_on_[Index(device)];
  const Topology& topology = costed_.topology;
  for (std::int32_t at = topology.device_offsets[Index(device)]; at < topology.device_offsets[Index(device) + 1]; ++at)
    unit_free_[Index(topology.device_units[Index(at)])] = finish;
  for (const GroupEdge& edge : costed_.Successors(group)) --waiting_[Index(edge.group)];
}

void GrowingSchedule::TakeBack() {
  const int group = sequence_.back();
  sequence_.pop_back();
  const std::size_t depth = sequence_.size();
  for (const GroupEdge& edge : costed_.Successors(group)) ++waiting_[Index(edge.group)];
  --groups_on_[Index(placement_[Index(group)])];
  placement_[Index(group)] = -1;
  scheduled_.Flip(group);
  last_start_ = before_[depth].last_start;
  makespan_ = before_[depth].makespan;
  if (before_[depth].settled) settled_[Index(costed_.colocation[Index(group)])] = -1;
  const auto free = free_before_.begin() + static_cast<std::ptrdiff_t>(depth * unit_free_.size());
  std::copy(free, free + static_cast<std::ptrdiff_t>(unit_free_.size()), unit_free_.begin());
  const auto closed = closed_before_.begin() + static_cast<std::ptrdiff_t>(depth * closed_.size());
  std::copy(closed, closed + static_cast<std::ptrdiff_t>(closed_.size()), closed_.begin());
}

}  // namespace millrace
