// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "millrace/runtime/executor.h"
#include "millrace/target/target.h"

// When the groups of a plan really ran. Seconds since the run began.
namespace millrace {

struct MeasuredTimeline {
  double run_seconds = 0;             // of the run in the middle: as many were faster as were slower
  Timeline run;                       // its timeline
  std::vector<double> group_seconds;  // by group: the median over all runs of finish - start
  int runs = 0;
};

// Groups of one executed run, from the times of its steps; makespan is the last finish. A group without a step starts
// and finishes at 0.
Timeline TimelineOf(std::span<const StepTime> steps, std::size_t num_groups);

// Nothing of no runs. All are of one plan.
std::optional<MeasuredTimeline> MedianOf(std::vector<TimedRun> runs);

// Runs the plan up to so many times. Nothing where the target cannot tell or a run fails. Throws Interrupted.
std::optional<MeasuredTimeline> MeasureTimeline(LoadedPlan& plan, int runs);

}  // namespace millrace
