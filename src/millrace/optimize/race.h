// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "millrace/optimize/candidate.h"
#include "millrace/planning/deadline.h"
#include "millrace/target/target.h"

// Measuring several plans beside each other. Runs are interleaved, so that what slows the machine for a while slows all
// of them alike, and poor plans leave early, so that time goes to those that may win. Seconds.
//
// The elimination follows successive halving (Jamieson and Talwalkar, 2016), by clear distance rather than by half.
namespace millrace {

struct RaceOptions {
  int rounds = 20;             // runs of a plan that stays to the end
  int rounds_before_drop = 3;  // runs of every plan before the first may leave
  double drop_factor = 1.15;   // a plan leaves when its fastest run is this much slower than the leader's median
  int least_survivors = 3;
  std::vector<int> cpus;      // watched for disturbances (target/disturbance.h); empty: not watched
  Deadline end = Deadline();  // of everything: no load or run begins that is likely to pass it, but for the first ones
  int first_ones = 1;         // candidates from the front that run however late it is
  int sought_ones = 1;        // likewise, that run before `end` even where the race has no time for them
};

// Measures the candidates and fills in times, target_seconds, disturbed and failure, and the timelines of targets that
// can tell them and whose runs differ. Those that already have target_seconds or a failure (from records of an earlier
// run) are left as they are. A candidate that fails is out; the others go on. `progress` is told (done, total) runs.
// Stops early, with what it has, at the deadline, but not before each candidate ran once. At options.end it does:
// candidates further back then stay without a time, yet never all of them. Throws Interrupted.
void Race(Target& target, std::vector<Candidate>& candidates, const RaceOptions& options, const Deadline& deadline,
          const std::function<void(int, int)>& progress);

}  // namespace millrace
