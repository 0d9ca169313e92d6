// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/graph/index.h"
#include "millrace/plan/plan.h"

// An assignment under change, with its chains kept current and every change reversible: the half of a live plan that
// knows no time. live_plan.h and contended_live_plan.h add the timeline.
namespace millrace {

// One change is under way at a time: any number of Place and Move. `costed` must outlive it, and has at least one
// group.
class ChangingPlan {
 public:
  const CostedGraph& costed() const { return costed_; }
  const Assignment& assignment() const { return current_; }  // with the change under way
  int Position(int group) const { return position_[Index(group)]; }
  int Device(int group) const { return current_.placement[Index(group)]; }

  // Nearest group on the first unit of the group's device, before and after it; -1 where there is none.
  int PreviousOnUnit(int group) const { return previous_[Slot(group, 0)]; }
  int NextOnUnit(int group) const { return next_[Slot(group, 0)]; }

  // All groups that must be on the group's device, itself included; none where it has no colocation.
  std::span<const int> Colocated(int group) const;

  // The positions between the group's last predecessor and its first successor.
  std::pair<int, int> Room(int group) const;

  // The group, with all it must share a device with; nothing where it cannot run there.
  void Place(int group, int device);

  // To a position in its Room.
  void Move(int group, int to);

  bool changed() const { return !undo_.empty(); }

  // The groups of the change under way, some of them several times; until the next call.
  std::span<const int> ChangedGroups();

 protected:
  struct Undo {
    int group;
    int device;  // it ran on; -1: moved instead
    int from;
  };

  struct Units {
    const std::int32_t* first;
    const std::int32_t* last;
    const std::int32_t* begin() const { return first; }
    const std::int32_t* end() const { return last; }
  };

  explicit ChangingPlan(const CostedGraph& costed);
  ~ChangingPlan() = default;

  // Begins anew from a valid assignment.
  void Begin(Assignment start);

  // Takes the change under way back; Settle is still to be called.
  void Revert();

  // Forgets the change under way.
  void Settle();

  std::size_t Slot(int group, int unit_of_device) const { return Index(group) * most_units_ + Index(unit_of_device); }
  std::size_t SlotOn(int group, int unit) const;
  Units UnitsOf(int device) const;
  double SecondsOf(int group) const { return costed_.Seconds(group, Device(group)); }

  const CostedGraph& costed_;
  Assignment current_;
  std::size_t most_units_ = 1;             // of any device
  std::vector<std::int32_t> slot_;         // by device * units + unit: which of the device's units it is; -1: none
  std::vector<std::vector<int>> members_;  // groups of each colocation
  std::vector<int> position_;              // of each group in the sequence
  std::vector<int> previous_, next_;       // by Slot: neighbours on that unit; -1: none
  std::vector<int> first_on_, last_on_;    // by unit; -1: none

  // The change under way.
  int first_;                 // the first position that a changed group has or had; num_groups: none
  int last_ = -1;             // the last one; -1: none
  std::vector<Undo> undo_;    // in the order of the changes
  std::vector<char> forced_;  // by group: placed or moved
  std::vector<int> changed_groups_;
  std::vector<int> wake_, wake_up_;  // groups whose neighbour before, or behind, them on a unit is or was another

 private:
  void Unlink(int group);
  void Link(int group);
  int LastBefore(int position, int unit) const;
  void PlaceOne(int group, int device);
  void Shift(int from, int to);
};

}  // namespace millrace
