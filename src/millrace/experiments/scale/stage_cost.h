// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>

// What a piece of work takes when it has a process to itself, and how that grows. Seconds, bytes.
namespace millrace {

struct StageSeconds {
  double wall = 0;
  double processor = 0;  // of all threads: what other processes take does not count
};

struct StageCost {
  StageSeconds seconds;   // as the work tells it: loading its inputs does not count
  double peak_bytes = 0;  // most resident memory of the process, inputs included
};

// Runs `work` in a forked child and waits for it. `work` returns the seconds to report. Nothing where the child throws
// (its complaint goes to stderr), dies or takes longer than `most_seconds` in all. The caller must have no other
// threads.
std::optional<StageCost> CostOfStage(const std::function<StageSeconds()>& work, double most_seconds);

// Seconds of one call: the medians of up to five, as long as they take half a second together.
StageSeconds SecondsOf(const std::function<void()>& call);

// The exponent of growth: the slope of log y over log x by least squares. NaN of fewer than two different x; pairs that
// are not both above 0 do not count.
double GrowthExponent(std::span<const double> x, std::span<const double> y);

}  // namespace millrace
