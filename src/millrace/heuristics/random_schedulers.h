// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/heuristics/partial_schedule.h"
#include "millrace/random/random.h"

// The heuristics that give another answer for every draw. Sample i is made from random.Fork(i) alone.
namespace millrace {

// A ready group drawn evenly, on a device drawn evenly among those that may run it, until all are placed.
Assignment ScheduleAtRandom(const CostedGraph& costed, Random random);

// HEFT with doubt: upward ranks times a lognormal factor, and each finish times one near 1, so that good schedules
// in HEFT's neighbourhood come out, each different. How much doubt differs from sample to sample as well. Sample 0 has
// none and is HEFT itself.
class RandomisedList {
 public:
  // `costed` must outlive it.
  explicit RandomisedList(const CostedGraph& costed);

  PlannedAssignment Sample(Random random, bool without_doubt);

 private:
  const CostedGraph& costed_;
  std::vector<double> ranks_;
  PartialSchedule schedule_;
};

}  // namespace millrace
