// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/time_step.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

constexpr double kFinest = 1 << 20;
constexpr double kMostSteps = 1e15;  // of 2^-20 s, in all times together: doubles count to 9e15

// The greatest common divisor of times in units of 2^-20 s, as long as there is one.
class CommonStep {
 public:
  void Add(double seconds) {
    if (!found_ || seconds == kCannotRun) return;
    const double steps = seconds * kFinest;
    sum_ += steps;
    if (steps != std::floor(steps) || sum_ > kMostSteps) {
      found_ = false;
      return;
    }
    step_ = std::gcd(step_, static_cast<std::int64_t>(steps));
  }
  bool found() const { return found_; }
  double Seconds() const { return found_ ? static_cast<double>(step_) / kFinest : 0.0; }

 private:
  bool found_ = true;
  std::int64_t step_ = 0;
  double sum_ = 0;
};

}  // namespace

double TimeStep(const CostedGraph& costed) {
  CommonStep step;
  for (const double seconds : costed.seconds) step.Add(seconds);
  const Topology& topology = costed.topology;
  for (std::size_t pair = 0; pair < topology.latency.size() && step.found(); ++pair) {
    if (topology.latency[pair] == 0 && topology.seconds_per_byte[pair] == 0) continue;
    for (const GroupEdge& edge : costed.predecessors) {
      step.Add(topology.latency[pair] + edge.bytes * topology.seconds_per_byte[pair]);
      if (!step.found()) break;
    }
  }
  return step.Seconds();
}

double RoundUpToStep(double bound, double step) {
  constexpr double kRounding = 1e-9;
  return step > 0 ? std::ceil(bound / step - kRounding) * step : bound;
}

double BelowMakespan(double makespan, double step) {
  constexpr double kLeastGain = 1e-12;
  if (step == 0) return makespan * (1 - kLeastGain);
  // Sums of steps are exact, but not what bounds make of them.
  constexpr double kRounding = 1e-14;
  constexpr double kShareOfStep = 1.0 / 1024;
  return makespan - step + std::min(step / 2, std::max(kShareOfStep * step, kRounding * makespan));
}

}  // namespace millrace
