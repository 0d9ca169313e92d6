// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/search/growing_schedule.h"
#include "millrace/search/subset_sums.h"
#include "millrace/simulate/joint_arrival.h"
#include "millrace/simulate/path_bounds.h"

// What no schedule that goes on from a partial one, by appending in order of starts, can beat under the linear
// timeline. Seconds.
//
// Earliest starts by group and device as in simulate/path_bounds.h, after the units as they are now; a device on which
// a group would reach the limit is closed to it, which makes its successors later. Then the work left must fit: what
// must be done by any time, on the units that are left for it, from when each is next used (simulate/work_bound.h).
// On like devices with next to no time to spare, some of the groups must fill each of them nearly exactly.
namespace millrace {

class NodeBounds {
 public:
  // `tail` as PathBounds::tail, for the same links; schedules keep the groups of `apart` apart. Refers to the graph.
  NodeBounds(const CostedGraph& costed, std::vector<double> tail, const ApartGroups& apart);

  // The bound; at least `limit`, which it then need not exceed, where nothing below it can follow. Fills the tables
  // below; where it gives up early they are not complete.
  double Find(const GrowingSchedule& schedule, double limit);

  // Devices whose earliest starts were found: the others are like one of them, and no better. Where transfers are all
  // free, of symmetric devices the one free first; else those in use and two of those unused, the second of which no
  // group need be tried on.
  const std::vector<int>& shown() const { return shown_; }
  bool Spare(int device) const { return spare_[static_cast<std::size_t>(device)] != 0; }

  // Earliest start on a device shown; infinity: not there. Exact for groups that are ready, but for last_start().
  double Head(int group, int device) const { return head_[At(group, device)]; }
  double Tail(int group, int device) const { return tail_[At(group, device)]; }

  // Might the group run on the device, shown or not?
  bool MayUse(int group, int device) const {
    return std::find(shown_.begin(), shown_.end(), device) == shown_.end() ||
           Head(group, device) < std::numeric_limits<double>::infinity();
  }

  // Earliest start of anything on each device; infinity: nothing will run there any more.
  double Used(int device) const { return used_[static_cast<std::size_t>(device)]; }

  // Where a group ran matters to no other: all transfers are free, nothing is colocated, memory has no limit.
  bool PlaceIsAllOne() const { return place_is_all_one_; }
  // Groups that must not share a device with this one.
  const std::vector<int>& ApartFrom(int group) const { return apart_[static_cast<std::size_t>(group)]; }

  const std::vector<int>& first_symmetric() const { return first_symmetric_; }

 private:
  std::size_t At(int group, int device) const {
    return static_cast<std::size_t>(group) * static_cast<std::size_t>(costed_.num_devices) +
           static_cast<std::size_t>(device);
  }

  void ShowDevices(const GrowingSchedule& schedule);
  double HeadOf(const GrowingSchedule& schedule, int group, int device);
  double RemoteArrival(const GroupEdge& edge, int to) const;
  double FindHeads(const GrowingSchedule& schedule, double limit);
  void FindUse(const GrowingSchedule& schedule);
  double FitWork(const GrowingSchedule& schedule, double limit);
  double FitWorkBackwards(const GrowingSchedule& schedule, double limit);
  bool FitsInWindows(const GrowingSchedule& schedule, double limit);
  bool CanFillUnits(const GrowingSchedule& schedule, double limit);

  const CostedGraph& costed_;
  std::vector<double> tail_;             // by group and device
  std::vector<double> work_;             // by group and device, weighted
  std::vector<double> unit_weights_;     // by unit
  std::vector<std::vector<int>> apart_;  // by group
  std::vector<int> first_symmetric_;     // by device
  std::vector<int> by_tail_;             // groups, the longest least tail first
  bool place_is_all_one_;
  bool alike_;    // a group takes as long on every device, and each has a unit to itself
  bool uniform_;  // every transfer between two devices costs the same

  std::vector<int> shown_;
  std::vector<char> spare_;                 // by device
  std::vector<double> free_;                // by device, no earlier than the last start
  std::vector<double> head_;                // by group and device
  std::vector<double> first_;               // by group: least head
  std::vector<double> least_work_;          // by group, on devices not closed to it
  std::vector<double> least_tail_;          // likewise
  std::vector<EarliestFinishes> finishes_;  // by group
  std::vector<double> used_;                // by device
  struct Ready {
    double time = 0;
    double weight = 0;
  };
  std::vector<Ready> ready_;  // units that will be used again, by when
  std::vector<int> by_head_;  // unscheduled groups
  struct Span {
    double earliest = 0;  // finish
    double latest = 0;    // start
    double seconds = 0;
  };
  std::vector<Span> spans_;  // of unscheduled groups
  std::vector<double> begins_;
  std::vector<double> ends_;
  JointArrival joint_;
  SubsetSums sums_;
  std::vector<double> left_;  // seconds of unscheduled groups
};

}  // namespace millrace
