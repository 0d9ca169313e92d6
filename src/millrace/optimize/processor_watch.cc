// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/processor_watch.h"

#include <cmath>
#include <utility>

#include "millrace/machine/detect.h"
#include "millrace/runtime/host_units.h"

namespace millrace {
namespace {

std::string InNanoseconds(double seconds) { return std::to_string(std::lround(seconds * 1e9)) + " ns"; }

}  // namespace

ProcessorWatch::ProcessorWatch(const Machine& machine, HandOverMeter meter) : meter_(std::move(meter)) {
  if (!GuessesHandOvers(machine)) return;
  machine_ = machine;
  units_ = UnitsOf(machine);
  shared_depths_ = SharedDepths(units_);
}

Machine ProcessorWatch::Look() const { return WithHandOvers(*machine_, units_, shared_depths_, meter_); }

Machine ProcessorWatch::Measure() {
  Machine measured = Look();
  moves_ = 0;
  planned_with_ = latest_ = measured.default_link->latency_seconds;
  return measured;
}

bool ProcessorWatch::Moved() {
  if (!watches()) return false;
  const double now = Look().default_link->latency_seconds;
  const bool moved = !AlikeHandOvers(now, std::exchange(latest_, now));
  moves_ += moved ? 1 : 0;
  return moved;
}

std::optional<std::string> ProcessorWatch::Warning() const {
  if (moves_ == 0) return std::nullopt;
  return "this host moved the processors " + (moves_ == 1 ? std::string("once") : std::to_string(moves_) + " times") +
         " since ops were timed: what one writes reached another after " + InNanoseconds(planned_with_) +
         " then, and does after " + InNanoseconds(latest_) + " now; times of work on several may be of either state";
}

}  // namespace millrace
