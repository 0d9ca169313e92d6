// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/timeline.h"

// How often a plan can run where the next run begins before the last has ended. Every unit does its groups of one run
// in their order, then those of the next; inputs are always there. Memory is not looked at: each run under way needs
// its own.
namespace millrace {

// Seconds from one run to the next that no order of these groups on these devices goes below: those of the busiest unit
// and, under the contended proxy, of the busiest channel.
double PeriodBound(const CostedGraph& costed, const Assignment& assignment);

// Simulates runs that overlap, one plan after another of a costed graph. One object serves one thread; a call allocates
// nothing but by the size of the assignment, at first.
class OverlappedRuns {
 public:
  static constexpr int kRuns = 8;

  // Copies what it needs.
  explicit OverlappedRuns(const CostedGraph& costed, int runs = kRuns);

  // Seconds from one run's end to the next one's, over the second half of the runs: by then units that wait for each
  // other do so as in every later run, or nearly. Never below PeriodBound.
  double Period(const Assignment& assignment);

 private:
  const CostedGraph one_;
  int runs_;
  CostedGraph all_;  // the runs side by side: group g of run r is r * num_groups + g
  Simulator simulator_;
  Assignment repeated_;
  Timeline timeline_;
};

}  // namespace millrace
