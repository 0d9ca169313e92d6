// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/search/changing_plan.h"
#include "millrace/search/position_set.h"

// A changing plan with its linear timeline kept current: what local search works on. Seconds.
//
// By group it knows the finish and the tail, the longest way from there to the end of the plan over transfers, groups
// and the order on the units. A change touches a window of the sequence. Before the window the finishes stand, behind
// it the tails do, so its price needs what changes inside the window and the edges that leave it; only a change that is
// kept is propagated, as far as something differs.
// Source: heads and tails as in Taillard, "Parallel Taboo Search Techniques for the Job Shop Scheduling Problem", ORSA
// Journal on Computing 1994.
namespace millrace {

// After a change: Price, then Keep or TakeBack.
class LivePlan : public ChangingPlan {
 public:
  explicit LivePlan(const CostedGraph& costed);

  // Begins anew from a valid assignment.
  void Start(Assignment start);

  double makespan() const { return makespan_; }  // without the change under way

  // Does the makespan hang on it? No change that leaves all such groups alone makes the plan faster.
  bool Critical(int group) const { return finish_[Index(group)] + tail_[Index(group)] >= makespan_ * (1 - kRounding); }

  // Critical is always up to date.
  void FindCritical() {}

  // The makespan with the change where that exceeds the one without (but for rounding), else any number between the
  // two. As soon as it is known to exceed `limit` it may be a lower bound above `limit`. At most once per change.
  double Price(double limit);

  // Makes the change part of the plan; Price must have been within its limit.
  void Keep();

  void TakeBack();

 private:
  static constexpr double kRounding = 1e-12;

  struct OldFinish {
    int group;
    double seconds;
  };

  double Transfer(const GroupEdge& edge, int from, int to) const;
  double Finish(int group) const;
  double Tail(int group) const;
  void Forget();

  std::vector<double> finish_, tail_;  // by group
  double makespan_ = 0;

  // The change under way.
  std::vector<OldFinish> before_;
  std::vector<int> beyond_;  // groups behind the window that Price came upon
  PositionSet waiting_;
};

}  // namespace millrace
