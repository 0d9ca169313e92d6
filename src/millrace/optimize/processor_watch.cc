// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/processor_watch.h"

#include <cmath>
#include <utility>

#include "millrace/machine/detect.h"

namespace millrace {
namespace {

std::string InNanoseconds(double seconds) { return std::to_string(std::lround(seconds * 1e9)) + " ns"; }

}  // namespace

ProcessorWatch::ProcessorWatch(const Machine& machine, HandOverMeter meter) : meter_(std::move(meter)) {
  if (GuessesHandOvers(machine)) machine_ = machine;
}

Machine ProcessorWatch::Measure() {
  Machine measured = WithMeasuredHandOvers(*machine_, meter_);
  planned_with_ = latest_ = measured.default_link->latency_seconds;
  return measured;
}

bool ProcessorWatch::Moved() {
  if (!watches()) return false;
  const double now = WithMeasuredHandOvers(*machine_, meter_).default_link->latency_seconds;
  return !AlikeHandOvers(now, std::exchange(latest_, now));
}

std::optional<std::string> ProcessorWatch::Warning() const {
  if (AlikeHandOvers(planned_with_, latest_)) return std::nullopt;
  return "what one processor writes reached another after " + InNanoseconds(planned_with_) +
         " when planning began, and does after " + InNanoseconds(latest_) +
         " now: this host moves them, and times of work on several may be of either state";
}

}  // namespace millrace
