// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/heuristics/partial_schedule.h"
#include "millrace/random/random.h"

// The heuristics that give another answer for every draw. Sample i is made from random.Fork(i) alone.
namespace millrace {

// A ready group drawn evenly, on a device drawn evenly among those that may run it, until all are placed.
Assignment ScheduleAtRandom(const CostedGraph& costed, Random random);

// HEFT with doubt: upward ranks times a lognormal factor, and each finish times one near 1, so that good schedules in
// HEFT's neighbourhood come out, each different. How much doubt differs from sample to sample as well. On machines with
// gangs samples take turns among GangChoices, and where ops must share a device every second one counts what devices
// owe (PartialSchedule::BoundSeconds). `doubt` times the usual doubt: above 1 plans differ more and are worse.
class RandomisedList {
 public:
  explicit RandomisedList(const CostedGraph& costed, double doubt = 1);

  // Sample 0 is HEFT itself, the best of all gang choices; the others are drawn.
  PlannedAssignment Sample(std::int64_t number, const Random& random);

 private:
  struct Choice {
    std::vector<double> ranks;
    PartialSchedule schedule;
  };

  std::vector<CostedGraph> graphs_;  // GangChoices
  std::vector<Choice> choices_;      // one for each
  double doubt_;
};

}  // namespace millrace
