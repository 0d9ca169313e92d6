// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/target/target.h"

// Measuring loaded plans: raw times kept, failures recorded, disturbed runs marked. Seconds.
namespace millrace {

struct Measurement {
  std::vector<double> times;  // in the order they were taken, warm-up left out
  double median = 0, min = 0, p95 = 0;
  bool disturbed = false;  // others used our processors meanwhile (disturbance.h)
  bool failed = false;     // no run succeeded, or one went wrong; such a plan never wins
  std::string error;       // what went wrong
};

struct MeasureOptions {
  int warm_up = 2;
  int repetitions = 20;
  std::vector<int> cpus;  // watched for disturbances; empty: not watched
  // Of the repetitions together: none begins that is likely to pass it, going by the longest so far; but the first.
  double seconds = std::numeric_limits<double>::infinity();
};

// Makes a plan ready, and runs it once. Nothing where that fails (MeasurementFailed), and *failure then says why.
std::unique_ptr<LoadedPlan> TryLoad(Target& target, const Plan& plan, std::string* failure);
std::optional<double> TryRun(LoadedPlan& plan, std::string* failure);

// As TryRun, with a timeline where the target can tell one; it has no groups where not.
std::optional<TimedRun> TryRunTimed(LoadedPlan& plan, std::string* failure);

// Sets median, min and p95 from the times.
void Summarise(Measurement* measurement);

// Runs one plan. Never throws MeasurementFailed. Throws Interrupted between runs.
Measurement MeasurePlan(LoadedPlan& plan, const MeasureOptions& options);

// Runs several plans in turn, round after round, so that what slows the machine down for a while slows all of them.
// Every other round goes backwards. A plan that fails is left out from then on.
std::vector<Measurement> MeasureInterleaved(const std::vector<LoadedPlan*>& plans, const MeasureOptions& options);

}  // namespace millrace
