// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"

// What slow clocks of the contended timeline have in common: they are moved from event to event, and look at everything
// each time. Seconds; kNever for what has not happened.
namespace millrace::testing {

// A tensor on its way to a memory.
struct SlowTransfer {
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  const GroupTensor* tensor;
  int place;   // of its producer in the sequence
  int memory;  // where it goes
  int from;    // device
  int to;      // device of its first reader there
  double begin = kNever;
  double end = kNever;  // there
};

class SlowClock {
 public:
  // Both must outlive it. Nothing has begun.
  SlowClock(const CostedGraph& costed, const Assignment& assignment);

  // Groups that can start at `now` do. Returns the next finish after it.
  double StartGroups(double now);

  // When its producer finishes.
  double Ready(const SlowTransfer& transfer) const;

  // In the order of their producers' places, then tensors, then memories.
  std::vector<SlowTransfer>& transfers() { return transfers_; }
  const Timeline& timeline() const { return timeline_; }

 private:
  bool CanStart(int group, double now) const;
  bool ShareAUnit(int a, int b) const;
  int DeviceOf(int group) const;

  const CostedGraph& costed_;
  const Assignment& assignment_;
  std::vector<int> place_;  // by group
  std::vector<SlowTransfer> transfers_;
  Timeline timeline_;
};

// Like a random graph, but no op is over in no time.
ComputationGraph LastingGraph(Random& random, const RandomProblemOptions& options);

}  // namespace millrace::testing
