// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/channel_ledger.h"
#include "millrace/heuristics/colocation_ledger.h"
#include "millrace/heuristics/gap_list.h"
#include "millrace/heuristics/memory_ledger.h"
#include "millrace/plan/plan.h"

// A schedule under construction: what list scheduling asks (where could this group run, from when, until when) and how
// it answers back (place it there). Seconds.
namespace millrace {

// An assignment with the makespan its maker expects. Under the linear proxy it takes no longer: a group never starts
// later than planned, and sometimes earlier. Under the contended one the makespan is an estimate: who gets a channel
// first may differ.
struct PlannedAssignment {
  Assignment assignment;
  double makespan = 0;
};

// Groups must be placed after all their predecessors. Only Clear allocates, so one object serves many schedules of one
// costed graph, which must outlive it.
class PartialSchedule {
 public:
  enum class Gaps { kFill, kLeave };  // start in idle gaps between placed groups, or only after all of them

  PartialSchedule(const CostedGraph& costed, Gaps gaps);

  void Clear();

  // Makes `group` the one the next questions are about: works out when its inputs reach each device, by the proxy.
  void Consider(int group);
  double Arrival(int device) const { return arrivals_[static_cast<std::size_t>(device)]; }
  std::span<const double> arrivals() const { return arrivals_; }
  double EarliestStart(int device) const;
  double EarliestFinish(int device) const { return EarliestStart(device) + costed_.Seconds(considered_, device); }

  // Can it run there: the device knows its ops, its colocation is there or nowhere yet, memory seems to suffice?
  bool MayRun(int group, int device) const;

  // As MemoryLedger says: how full the device's memory would be with the group on it, and the bytes that would add.
  double Fullness(int group, int device) const { return memory_.Fullness(group, device); }
  double AddedBytes(int group, int device) const { return memory_.Added(group, device); }

  // As ColocationLedger says.
  double RestOfColocation(int group, int device) const { return colocations_.Rest(group, device); }
  double BoundSeconds(int group, int device) const { return colocations_.Bound(group, device); }
  bool ColocationSettled(int group) const { return colocations_.Settled(group); }

  // The device where the key (double of device) is least among those that may run the group; ties go to fewer units,
  // then the lower number. Where memory forbids all, the one whose memory is the least overfull.
  template <typename Key>
  int Choose(int group, Key key) const {
    int best = -1;
    double least = 0;
    for (int device = 0; device < costed_.num_devices; ++device) {
      if (!MayRun(group, device)) continue;
      const double here = key(device);
      if (best >= 0 && !(here < least) &&
          !(here == least && costed_.topology.UnitsOf(device) < costed_.topology.UnitsOf(best)))
        continue;
      best = device;
      least = here;
    }
    return best >= 0 ? best : LeastOverfull(group);
  }

  // The device where the considered group finishes first, colocations counted: HEFT's choice.
  int FirstToFinish(int group) const {
    return Choose(group, [this, group](int device) { return EarliestFinish(device) + BoundSeconds(group, device); });
  }

  // Places the considered group on the device at its earliest start.
  void Place(int device);

  // When the last group on any of the device's units ends.
  double DeviceEnd(int device) const;

  bool placed(int group) const { return placement_[static_cast<std::size_t>(group)] >= 0; }
  double makespan() const { return makespan_; }

  // Once all groups are placed. The sequence goes by start; of equal starts the earlier finish first (a group of no
  // length runs before the one that starts there), then topological order. Every edge and every unit's order agree with
  // that, hence the promise of PlannedAssignment.
  PlannedAssignment Finish() const;

 private:
  bool Runs(int group, int device) const;
  int LeastOverfull(int group) const;

  const CostedGraph& costed_;
  Gaps gaps_;
  std::vector<std::int32_t> topological_position_;
  ColocationLedger colocations_;
  std::vector<GapList> units_;
  std::vector<double> unit_end_;
  MemoryLedger memory_;
  std::optional<ChannelLedger> channels_;  // where the proxy is the contended one
  int considered_ = -1;
  std::vector<double> arrivals_;
  std::vector<int> placement_;
  std::vector<double> start_, finish_;
  double makespan_ = 0;
};

}  // namespace millrace
