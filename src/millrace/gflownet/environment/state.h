// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/heuristics/channel_ledger.h"
#include "millrace/heuristics/colocation_ledger.h"
#include "millrace/plan/plan.h"

// A partial plan: the chains built so far, when every group on them finishes, which groups may be placed next and which
// may have been placed last. Seconds.
//
// A state depends on its chains alone, not on the order they were built in, so equal states look equal. Only the
// constructor and Clear allocate. One state serves one thread.
//
// Where the proxy is the contended one, transfers queue for their channels: a ready group's inputs arrive once the
// channels are through with what was placed before, each transfer booked as its reader is placed
// (heuristics/channel_ledger.h). Times are then an estimate, and do depend on the order; finished plans are judged by
// the timeline itself.
namespace millrace {

// Only the ready groups of highest upward rank are offered, so a step costs the same on very wide graphs.
inline constexpr int kReadyWindow = 16;

class State {
 public:
  // The empty plan. `environment` must outlive the state.
  explicit State(const Environment& environment);

  void Clear();

  const Environment& environment() const { return *environment_; }
  int steps() const { return static_cast<int>(assignment_.sequence.size()); }
  bool done() const { return steps() == environment_->num_groups(); }

  // Groups whose predecessors are all placed: the first kReadyWindow by decreasing upward rank, the others, whose rank
  // is no higher, in no particular order. Every one has a device that may run it.
  std::span<const std::int32_t> ready() const { return ready_; }

  // True where the device can run the group and the group's colocation is there or nowhere yet.
  bool MayRun(int group, int device) const;

  bool placed(int group) const { return assignment_.placement[static_cast<std::size_t>(group)] >= 0; }

  // When the outputs of the group's placed predecessors have reached the device. Under the contended proxy as channels
  // are booked now for a ready group of the first kReadyWindow, and without waiting for others.
  double Arrival(int group, int device) const { return arrivals_[Cell(group, device)]; }

  // When all units of the device have finished their chains.
  double DeviceFree(int device) const { return device_free_[static_cast<std::size_t>(device)]; }

  double UnitFree(int unit) const { return unit_free_[static_cast<std::size_t>(unit)]; }

  double EarliestStart(int group, int device) const {
    const double arrival = Arrival(group, device);
    const double free = DeviceFree(device);
    return arrival > free ? arrival : free;
  }
  double EarliestFinish(int group, int device) const {
    return EarliestStart(group, device) + environment_->costed().Seconds(group, device);
  }

  // As ColocationLedger::Bound says: what the choice of this device binds it to beyond the group.
  double BoundSeconds(int group, int device) const { return colocations_.Bound(group, device); }

  const ColocationLedger& colocations() const { return colocations_; }

  double Finish(int group) const { return finish_[static_cast<std::size_t>(group)]; }  // of a placed group

  // Sum of Environment::EdgeWeight over the group's predecessors that are placed on the device.
  double InputWeightOn(int group, int device) const { return input_weights_[Cell(group, device)]; }

  // Number of predecessors that are not placed yet.
  int Waiting(int group) const { return waiting_[static_cast<std::size_t>(group)]; }

  // Number of groups placed on the device so far.
  int PlacedOn(int device) const { return placed_on_[static_cast<std::size_t>(device)]; }

  // Precondition: the group is ready and may run there.
  void Append(Action action);

  // The backward actions: placed groups that are last on all their units and have no placed successor, in no
  // particular order. Their number is the number of states that lead to this one in one step.
  std::span<const std::int32_t> removable() const { return removable_; }

  double makespan() const { return makespan_; }  // of the placed groups; 0 at the start

  // Placement (-1: not placed) and sequence so far; a valid assignment once done().
  const Assignment& assignment() const { return assignment_; }

 private:
  std::size_t Cell(int group, int device) const {
    return static_cast<std::size_t>(group) * static_cast<std::size_t>(environment_->num_devices()) +
           static_cast<std::size_t>(device);
  }
  void AddReady(std::int32_t group);
  void DropReady(std::int32_t group);
  void AddRemovable(int group);
  void DropRemovable(int group);
  void AskChannels();

  const Environment* environment_;
  Assignment assignment_;
  std::vector<std::int32_t> ready_;               // in order up to kReadyWindow, then a heap whose front comes next
  std::vector<std::int32_t> waiting_;             // by group
  std::vector<double> arrivals_, input_weights_;  // by group * devices + device
  std::vector<double> finish_;                    // by group
  std::vector<double> unit_free_, device_free_;
  std::vector<std::int32_t> unit_last_;          // last group on each unit's chain; -1: none
  std::vector<std::int32_t> placed_successors_;  // by group
  std::vector<std::int32_t> placed_on_;          // by device
  ColocationLedger colocations_;
  std::vector<std::int32_t> removable_, removable_at_;
  double makespan_ = 0;
  std::optional<ChannelLedger> channels_;  // where the proxy is the contended one
};

}  // namespace millrace
