// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/node_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/search/symmetric_devices.h"
#include "millrace/simulate/work_bound.h"

namespace millrace {
namespace {

constexpr double kNotHere = std::numeric_limits<double>::infinity();

void SortDifferent(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
}

bool DevicesAlike(const CostedGraph& costed) {
  const Topology& topology = costed.topology;
  if (topology.num_memories != topology.num_devices || topology.num_units != topology.num_devices) return false;
  for (int group = 0; group < costed.num_groups; ++group) {
    for (int device = 0; device < costed.num_devices; ++device) {
      const double seconds = costed.Seconds(group, device);
      if (seconds != kCannotRun && seconds != costed.fastest_seconds[Index(group)]) return false;
    }
  }
  return true;
}

}  // namespace

NodeBounds::NodeBounds(const CostedGraph& costed, std::vector<double> tail, const ApartGroups& apart)
    : costed_(costed),
      tail_(std::move(tail)),
      unit_weights_(MakeWorkBound(costed).unit_weights),
      apart_(Index(costed.num_groups)),
      first_symmetric_(FirstSymmetricDevices(costed)),
      place_is_all_one_(!costed.limited_memory && costed.num_colocations == 0 && costed.topology.AllTransfersFree()),
      alike_(DevicesAlike(costed)),
      uniform_(LinksAlike(costed.topology)),
      spare_(Index(costed.num_devices), 0),
      free_(Index(costed.num_devices), 0.0),
      head_(tail_.size(), 0.0),
      first_(Index(costed.num_groups), 0.0),
      least_work_(first_.size(), 0.0),
      least_tail_(first_.size(), 0.0),
      finishes_(first_.size()),
      used_(free_.size(), 0.0) {
  for (std::size_t at = 0; at < apart.size(); ++at) {
    if (apart[at] != 0) apart_[at / apart_.size()].push_back(static_cast<int>(at % apart_.size()));
  }
  work_ = WeightedWork(costed, unit_weights_);
  const auto devices = Index(costed.num_devices);
  for (int group = 0; group < costed.num_groups; ++group) {
    const auto row = tail_.begin() + static_cast<std::ptrdiff_t>(Index(group) * devices);
    least_tail_[Index(group)] = *std::min_element(row, row + static_cast<std::ptrdiff_t>(devices));
    by_tail_.push_back(group);
  }
  std::stable_sort(by_tail_.begin(), by_tail_.end(),
                   [this](int a, int b) { return least_tail_[Index(a)] > least_tail_[Index(b)]; });
  by_head_.reserve(first_.size());
  ready_.reserve(Index(costed.topology.num_units));
}

double NodeBounds::Find(const GrowingSchedule& schedule, double limit) {
  ShowDevices(schedule);
  double bound = std::max(schedule.makespan(), FindHeads(schedule, limit));
  if (bound >= limit) return bound;
  FindUse(schedule);
  bound = std::max(bound, FitWork(schedule, limit));
  if (bound >= limit) return bound;
  bound = std::max(bound, FitWorkBackwards(schedule, limit));
  return bound >= limit || (FitsInWindows(schedule, limit) && CanFillUnits(schedule, limit)) ? bound : limit;
}

void NodeBounds::ShowDevices(const GrowingSchedule& schedule) {
  shown_.clear();
  for (int device = 0; device < costed_.num_devices; ++device) {
    const double free = schedule.DeviceFree(device);
    free_[Index(device)] = std::max(free, schedule.last_start());
    spare_[Index(device)] = 0;
    const int first = first_symmetric_[Index(device)];
    if (place_is_all_one_) {
      bool best = true;
      for (const int other : shown_) {
        if (first_symmetric_[Index(other)] == first && schedule.DeviceFree(other) <= free) best = false;
      }
      if (!best) continue;
      std::erase_if(shown_, [&](int other) { return first_symmetric_[Index(other)] == first; });
    } else if (schedule.GroupsOn(device) == 0) {
      int unused = 0;
      for (const int other : shown_)
        unused += first_symmetric_[Index(other)] == first && schedule.GroupsOn(other) == 0 ? 1 : 0;
      if (unused == 2) continue;
      spare_[Index(device)] = static_cast<char>(unused == 1);
    }
    shown_.push_back(device);
  }
}

double NodeBounds::RemoteArrival(const GroupEdge& edge, int to) const {
  if (uniform_) {
    const double finish = finishes_[Index(edge.group)].Elsewhere(to);
    return costed_.num_devices > 1 ? finish + costed_.TransferSeconds(edge.bytes, 0, 1) : kNotHere;
  }
  double arrival = kNotHere;
  for (const int from : shown_) {
    if (from == to) continue;
    arrival = std::min(arrival, head_[At(edge.group, from)] + costed_.Seconds(edge.group, from) +
                                    costed_.TransferSeconds(edge.bytes, from, to));
  }
  return arrival;
}

double NodeBounds::HeadOf(const GrowingSchedule& schedule, int group, int device) {
  double head = free_[Index(device)];
  const std::int32_t colocation = costed_.colocation[Index(group)];
  const std::vector<int>& apart = ApartFrom(group);
  for (const int other : apart) {
    if (schedule.placement()[Index(other)] == device) return kNotHere;
  }
  joint_.Clear();
  for (const GroupEdge& edge : costed_.Predecessors(group)) {
    const int from = schedule.placement()[Index(edge.group)];
    if (from >= 0) {
      head = std::max(head, schedule.Finish(edge.group) + costed_.TransferSeconds(edge.bytes, from, device));
    } else if (place_is_all_one_) {
      head = std::max(head, finishes_[Index(edge.group)].least);
    } else {
      const bool tied = colocation >= 0 && colocation == costed_.colocation[Index(edge.group)];
      const bool parted = std::find(apart.begin(), apart.end(), edge.group) != apart.end();
      joint_.Add({head_[At(edge.group, device)], parted ? kNotHere : costed_.Seconds(edge.group, device),
                  tied ? kNotHere : RemoteArrival(edge, device)});
    }
  }
  return std::max(head, joint_.Earliest());
}

double NodeBounds::FindHeads(const GrowingSchedule& schedule, double limit) {
  double bound = 0;
  for (const std::int32_t group : costed_.topological_order) {
    if (schedule.Scheduled(group)) continue;
    double least = kNotHere;
    EarliestFinishes finishes;
    double first = kNotHere;
    double work = kNotHere;
    double tail = kNotHere;
    for (const int device : shown_) {
      double& head = head_[At(group, device)];
      head = kNotHere;
      if (!schedule.MayRun(group, device)) continue;
      const double from = HeadOf(schedule, group, device);
      const double finish = from + costed_.Seconds(group, device);
      const double whole = finish + tail_[At(group, device)];
      least = std::min(least, whole);
      if (whole >= limit) continue;
      head = from;
      first = std::min(first, from);
      work = std::min(work, work_[At(group, device)]);
      tail = std::min(tail, tail_[At(group, device)]);
      finishes.Add(finish, device);
    }
    if (least >= limit) return least;
    bound = std::max(bound, least);
    finishes_[Index(group)] = finishes;
    first_[Index(group)] = first;
    least_work_[Index(group)] = work;
    least_tail_[Index(group)] = tail;
  }
  return bound;
}

void NodeBounds::FindUse(const GrowingSchedule& schedule) {
  std::fill(used_.begin(), used_.end(), kNotHere);
  for (const int device : shown_) {
    double& used = used_[Index(device)];
    for (int group = 0; group < costed_.num_groups; ++group) {
      if (!schedule.Scheduled(group)) used = std::min(used, head_[At(group, device)]);
    }
  }
  for (int device = 0; device < costed_.num_devices; ++device) {
    if (std::find(shown_.begin(), shown_.end(), device) != shown_.end()) continue;
    for (const int like : shown_) {
      if (first_symmetric_[Index(like)] == first_symmetric_[Index(device)] &&
          (place_is_all_one_ || schedule.GroupsOn(like) == 0)) {
        used_[Index(device)] = std::max(used_[Index(like)], free_[Index(device)]);
        break;
      }
    }
  }
  ready_.clear();
  const Topology& topology = costed_.topology;
  for (int unit = 0; unit < topology.num_units; ++unit) {
    double ready = kNotHere;
    for (int device = 0; device < costed_.num_devices; ++device) {
      for (std::int32_t at = topology.device_offsets[Index(device)]; at < topology.device_offsets[Index(device) + 1];
           ++at) {
        if (topology.device_units[Index(at)] == unit) ready = std::min(ready, used_[Index(device)]);
      }
    }
    if (ready < kNotHere) ready_.push_back({ready, unit_weights_[Index(unit)]});
  }
  std::sort(ready_.begin(), ready_.end(), [](const Ready& a, const Ready& b) { return a.time < b.time; });
}

// Groups by tail, the longest first: by when can the first so many of them be done, and what must follow.
double NodeBounds::FitWork(const GrowingSchedule& schedule, double limit) {
  double bound = 0;
  double work = 0;
  double weight = 0;  // of the units in use by then
  double begun = 0;   // sum of their times x weights
  std::size_t units = 0;
  double shortest = kNotHere;
  for (const int group : by_tail_) {
    if (schedule.Scheduled(group)) continue;
    work += least_work_[Index(group)];
    shortest = std::min(shortest, least_tail_[Index(group)]);
    while (units < ready_.size() && (weight == 0 || weight * ready_[units].time - begun < work)) {
      weight += ready_[units].weight;
      begun += ready_[units].weight * ready_[units].time;
      ++units;
    }
    if (weight == 0) return limit;
    bound = std::max(bound, (work + begun) / weight + shortest);
    if (bound >= limit) return bound;
  }
  return bound;
}

// Groups by head, the latest first: what begins no earlier than a time must fit between it and the end.
double NodeBounds::FitWorkBackwards(const GrowingSchedule& schedule, double limit) {
  by_head_.clear();
  for (int group = 0; group < costed_.num_groups; ++group) {
    if (!schedule.Scheduled(group)) by_head_.push_back(group);
  }
  std::sort(by_head_.begin(), by_head_.end(), [this](int a, int b) { return first_[Index(a)] > first_[Index(b)]; });
  double bound = 0;
  double work = 0;
  double shortest = kNotHere;
  for (const int group : by_head_) {
    work += least_work_[Index(group)];
    shortest = std::min(shortest, least_tail_[Index(group)]);
    double weight = 0;
    double begun = 0;
    for (const Ready& unit : ready_) {
      const double from = std::max(unit.time, first_[Index(group)]);
      if (weight > 0 && weight * from - begun >= work) break;  // done before this unit is used
      weight += unit.weight;
      begun += unit.weight * from;
    }
    bound = std::max(bound, (work + begun) / weight + shortest);
    if (bound >= limit) return bound;
  }
  return bound;
}

// Energetic reasoning: what of each group must lie inside a window, wherever it runs, against the room that units have
// there.
bool NodeBounds::FitsInWindows(const GrowingSchedule& schedule, double limit) {
  if (!alike_ || limit == kNotHere) return true;
  spans_.clear();
  begins_.clear();
  ends_.clear();
  for (int group = 0; group < costed_.num_groups; ++group) {
    if (schedule.Scheduled(group)) continue;
    const double seconds = costed_.fastest_seconds[Index(group)];
    const double first = first_[Index(group)];
    const double last = limit - least_tail_[Index(group)];
    spans_.push_back({first + seconds, last - seconds, seconds});
    begins_.push_back(first);
    ends_.push_back(last);
  }
  SortDifferent(begins_);
  SortDifferent(ends_);
  const double rounding = 1e-9 * limit;
  for (const double begin : begins_) {
    for (const double end : ends_) {
      if (end <= begin) continue;
      const double width = end - begin;
      double needed = 0;
      for (const Span& span : spans_)
        needed +=
            std::max(0.0, std::min(std::min(span.seconds, width), std::min(span.earliest - begin, end - span.latest)));
      double room = rounding;
      for (const Ready& unit : ready_) room += std::max(0.0, end - std::max(begin, unit.time));
      if (needed > room) return false;
    }
  }
  return true;
}

// Each unit must be filled but for the time to spare, which all of them have together.
bool NodeBounds::CanFillUnits(const GrowingSchedule& schedule, double limit) {
  if (!alike_ || limit == kNotHere) return true;
  left_.clear();
  double spare = 0;
  for (int group = 0; group < costed_.num_groups; ++group) {
    if (schedule.Scheduled(group)) continue;
    left_.push_back(costed_.fastest_seconds[Index(group)]);
    spare -= left_.back();
  }
  const double work = -spare;
  for (const Ready& unit : ready_) spare += std::max(0.0, limit - unit.time);
  // With more subsets than the range has room for, one will do: the question is not worth asking.
  constexpr double kSubsetsInReach = 8;
  if (left_.size() > SubsetSums::kMost || std::ldexp(spare, static_cast<int>(left_.size())) > kSubsetsInReach * work)
    return true;
  sums_.Set(left_);
  const double rounding = 1e-12 * limit;
  return std::all_of(ready_.begin(), ready_.end(), [&](const Ready& unit) {
    const double room = std::max(0.0, limit - unit.time);
    return sums_.AnyWithin(room - spare - rounding, room + rounding);
  });
}

}  // namespace millrace
