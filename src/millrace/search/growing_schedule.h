// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"

// Some groups of a costed graph scheduled, the others not yet: what the exact search appends to and takes back from.
// Seconds.
namespace millrace {

// The scheduled groups, a bit each.
struct GroupSet {
  std::array<std::uint64_t, 2> bits = {0, 0};

  void Flip(int group) { bits[static_cast<std::size_t>(group) / 64] ^= std::uint64_t{1} << (group % 64); }
  bool operator==(const GroupSet&) const = default;
};

// Refers to the costed graph, which must outlive it. Made once for a search: appending and taking back allocate
// nothing. At most 128 groups.
class GrowingSchedule {
 public:
  explicit GrowingSchedule(const CostedGraph& costed);

  const CostedGraph& costed() const { return costed_; }
  int size() const { return static_cast<int>(sequence_.size()); }
  const std::vector<int>& sequence() const { return sequence_; }    // in the order of appending
  const std::vector<int>& placement() const { return placement_; }  // -1: not scheduled
  const GroupSet& scheduled() const { return scheduled_; }
  bool Scheduled(int group) const { return placement_[static_cast<std::size_t>(group)] >= 0; }
  bool Ready(int group) const { return waiting_[static_cast<std::size_t>(group)] == 0 && !Scheduled(group); }
  double Finish(int group) const { return finish_[static_cast<std::size_t>(group)]; }
  double last_start() const { return last_start_; }
  double makespan() const { return makespan_; }
  double UnitFree(int unit) const { return unit_free_[static_cast<std::size_t>(unit)]; }
  int GroupsOn(int device) const { return groups_on_[static_cast<std::size_t>(device)]; }

  // When all units of the device are free.
  double DeviceFree(int device) const;

  // The device that a colocation has been given; -1: none yet.
  int Settled(int colocation) const { return settled_[static_cast<std::size_t>(colocation)]; }

  // Can it run there, is the device not closed to it, and is its colocation not elsewhere?
  bool MayRun(int group, int device) const;

  // No schedule that goes on from here has the group on the device; holds until the last append is taken back. Devices
  // beyond the 64th stay open.
  void Close(int group, int device) {
    if (device < 64) closed_[static_cast<std::size_t>(group)] |= std::uint64_t{1} << device;
  }
  void CloseEverywhere(int group) { closed_[static_cast<std::size_t>(group)] = ~std::uint64_t{0}; }

  // The group is ready, `start` no earlier than its data and the device's units allow.
  void Append(int group, int device, double start);
  void TakeBack();

 private:
  struct Before {  // what an append changed
    double last_start = 0;
    double makespan = 0;
    bool settled = false;
  };

  const CostedGraph& costed_;
  std::vector<int> sequence_;
  std::vector<int> placement_;
  GroupSet scheduled_;
  std::vector<double> finish_;
  std::vector<int> waiting_;  // by group: predecessors that are not scheduled
  std::vector<int> groups_on_;
  std::vector<double> unit_free_;
  std::vector<int> settled_;
  std::vector<std::uint64_t> closed_;  // by group: devices
  double last_start_ = 0;
  double makespan_ = 0;
  std::vector<Before> before_;                // by depth
  std::vector<double> free_before_;           // by depth and unit
  std::vector<std::uint64_t> closed_before_;  // by depth and group
};

}  // namespace millrace
