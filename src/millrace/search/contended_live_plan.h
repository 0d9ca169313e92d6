// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/search/changing_plan.h"
#include "millrace/search/position_set.h"
#include "millrace/simulate/contended_run.h"

// A changing plan with its contended timeline kept current: what local search works on where links are shared.
// Seconds.
//
// Nothing happens differently before the first finish that reads what has changed: the clock goes on from the last
// remembered state before that. It stops where all goes on as it did without the change, and as soon as what has begun
// rules the change out: who gets a channel first depends on everything before, but no plan ends sooner than it would
// with all channels free. Most changes are ruled out before the clock starts, by a single way from what has begun to a
// changed group and on to the end.
namespace millrace {

// After a change: Price, then Keep or TakeBack.
class ContendedLivePlan : public ChangingPlan {
 public:
  explicit ContendedLivePlan(const CostedGraph& costed);

  // Begins anew from a valid assignment.
  void Start(Assignment start);

  double makespan() const { return makespan_; }  // without the change under way

  // Is it on the chain of groups and transfers that the makespan hangs on? As of the last FindCritical.
  bool Critical(int group) const { return critical_[Index(group)] != 0; }

  // A simulation from the start, and a look at what is left behind every group: between two calls bounds grow loose.
  // No change may be under way.
  void FindCritical();

  // The makespan with the change, or anything above `limit` as soon as it is known to exceed that. At most once per
  // change.
  double Price(double limit);

  // Makes the change part of the plan; Price must have been within its limit.
  void Keep();

  void TakeBack();

 private:
  static constexpr int kMostStates = 32;
  static constexpr int kLeastInterval = 16;

  struct OldRest {
    int group;
    double seconds;
  };

  // What any transfer from one device to another takes at least; nothing where it is free.
  struct LeastTransfer {
    double latency = 0;
    double seconds_per_byte = 0;
  };

  ChainedPlan Chains() const;
  double Rest(int group) const;
  double InputsDone(int group) const;
  bool FirstOnAUnit(int group) const;
  std::int32_t GroupsBefore(int group) const;
  double FirstDifference() const;
  void ApplyChange(ContendedState& state) const;
  void GoOn(double limit, std::size_t from);
  bool SameCrossings(const ContendedState& before) const;
  bool GoesOnLike(const ContendedState& before) const;
  bool ChangeRests(int least, double limit, std::size_t from);
  bool WayExceeds(double limit, int group, std::size_t from) const;
  void LowerRests();
  void FindRests();
  void HandBack(int group);
  void Forget();
  void Commit();
  void Mark(int cause);

  ContendedRun run_;
  int interval_;                      // finishes from one remembered state to the next
  std::vector<ContendedState> kept_;  // of the plan without the change; the first is before all
  std::size_t num_kept_ = 0;
  std::vector<ContendedState> fresh_;  // with it, by place as in kept_, from from_ + 1 on
  std::size_t from_ = 0;               // place in kept_ from where the clock went on
  std::size_t num_fresh_ = 0;          // counts the places up to from_ too
  bool as_before_ = false;             // from there on everything happens as without the change
  ContendedState now_;
  std::vector<int> open_;                 // by place as in kept_: the first position of a group that has not begun
  std::vector<LeastTransfer> transfers_;  // by pair of devices
  std::vector<double> rest_;              // by group: no more than from its start to the end, with the change
  PositionSet stale_;                     // positions whose rest is to be found anew
  std::vector<int> left_stale_;           // groups whose rest is, should the change be kept
  std::vector<OldRest> rests_before_;
  std::vector<double> finish_;        // by group, without the change
  std::vector<std::int32_t> before_;  // by group: the groups before it on its units, without the change
  std::vector<int> first_before_;     // by unit: first_on_ without the change
  double makespan_ = 0;
  std::vector<std::int32_t> causes_;                          // by group, of FindCritical
  std::vector<char> critical_;                                // by group
  mutable std::vector<char> seen_;                            // by group; all 0 between calls
  mutable std::vector<Crossing> crossing_, crossing_before_;  // workspace of SameCrossings
  bool one_device_a_memory_;                                  // so that an order alone changes no transfer
};

}  // namespace millrace
