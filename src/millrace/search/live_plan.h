// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/graph/index.h"
#include "millrace/plan/plan.h"
#include "millrace/search/position_set.h"

// An assignment under change with its timeline kept current: what local search works on. Seconds.
//
// By group it knows the finish and the tail, the longest way from there to the end of the plan over transfers, groups
// and the order on the units. A change touches a window of the sequence. Before the window the finishes stand, behind
// it the tails do, so its price needs what changes inside the window and the edges that leave it; only a change that is
// kept is propagated, as far as something differs.
// Source: heads and tails as in Taillard, "Parallel Taboo Search Techniques for the Job Shop Scheduling Problem", ORSA
// Journal on Computing 1994.
namespace millrace {

// One change is under way at a time: any number of Place and Move, then Price, then Keep or TakeBack. `costed` must
// outlive it, and has at least one group.
class LivePlan {
 public:
  explicit LivePlan(const CostedGraph& costed);

  // Begins anew from a valid assignment.
  void Start(Assignment start);

  const CostedGraph& costed() const { return costed_; }
  const Assignment& assignment() const { return current_; }  // with the change under way
  double makespan() const { return makespan_; }              // without it
  int Position(int group) const { return position_[Index(group)]; }
  int Device(int group) const { return current_.placement[Index(group)]; }

  // Nearest group on the first unit of the group's device, before and after it; -1 where there is none.
  int PreviousOnUnit(int group) const { return previous_[Slot(group, 0)]; }
  int NextOnUnit(int group) const { return next_[Slot(group, 0)]; }

  // Does the makespan hang on it? No change that leaves all such groups alone makes the plan faster.
  bool Critical(int group) const { return finish_[Index(group)] + tail_[Index(group)] >= makespan_ * (1 - kRounding); }

  // The positions between the group's last predecessor and its first successor.
  std::pair<int, int> Room(int group) const;

  // The group, with all it must share a device with; nothing where it cannot run there.
  void Place(int group, int device);

  // To a position in its Room.
  void Move(int group, int to);

  bool changed() const { return !undo_.empty(); }

  // The makespan with the change where that exceeds the one without (but for rounding), else any number between the
  // two. As soon as it is known to exceed `limit` it may be a lower bound above `limit`. At most once per change.
  double Price(double limit);

  // Makes the change part of the plan; Price must have been within its limit.
  void Keep();

  void TakeBack();

 private:
  static constexpr double kRounding = 1e-12;

  struct Undo {
    int group;
    int device;  // it ran on; -1: moved instead
    int from;
  };

  struct OldFinish {
    int group;
    double seconds;
  };

  struct Units {
    const std::int32_t* first;
    const std::int32_t* last;
    const std::int32_t* begin() const { return first; }
    const std::int32_t* end() const { return last; }
  };

  std::size_t Slot(int group, int unit_of_device) const { return Index(group) * most_units_ + Index(unit_of_device); }
  std::size_t SlotOn(int group, int unit) const;
  Units UnitsOf(int device) const;
  double SecondsOf(int group) const { return costed_.Seconds(group, Device(group)); }
  double Transfer(const GroupEdge& edge, int from, int to) const;

  void Unlink(int group);
  void Link(int group);
  int LastBefore(int position, int unit) const;
  void PlaceOne(int group, int device);
  void Shift(int from, int to);
  double Finish(int group) const;
  double Tail(int group) const;
  void Settle();

  const CostedGraph& costed_;
  Assignment current_;
  std::size_t most_units_ = 1;             // of any device
  std::vector<std::int32_t> slot_;         // by device * units + unit: which of the device's units it is; -1: none
  std::vector<std::vector<int>> members_;  // groups of each colocation
  std::vector<int> position_;              // of each group in the sequence
  std::vector<int> previous_, next_;       // by Slot: neighbours on that unit; -1: none
  std::vector<int> first_on_, last_on_;    // by unit; -1: none
  std::vector<double> finish_, tail_;      // by group
  double makespan_ = 0;

  // The change under way.
  int last_ = -1;                    // end of its window
  std::vector<Undo> undo_;           // in the order of the changes
  std::vector<char> forced_;         // by group: placed or moved
  std::vector<int> wake_, wake_up_;  // groups whose finish, or tail, may differ by it
  std::vector<OldFinish> before_;
  std::vector<int> beyond_;  // groups behind the window that Price came upon
  PositionSet waiting_;
};

}  // namespace millrace
