// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/measurement.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/target/disturbance.h"
#include "millrace/target/statistics.h"

namespace millrace {

std::unique_ptr<LoadedPlan> TryLoad(Target& target, const Plan& plan, std::string* failure) {
  try {
    return target.Load(plan);
  } catch (const MeasurementFailed& error) {
    *failure = error.what();
    return nullptr;
  }
}

std::optional<double> TryRun(LoadedPlan& plan, std::string* failure) {
  try {
    return plan.Run();
  } catch (const MeasurementFailed& error) {
    *failure = error.what();
    return std::nullopt;
  }
}

std::optional<TimedRun> TryRunTimed(LoadedPlan& plan, std::string* failure) {
  try {
    std::optional<TimedRun> run = plan.RunTimed();
    return run ? std::move(run) : TimedRun{plan.Run(), {}};
  } catch (const MeasurementFailed& error) {
    *failure = error.what();
    return std::nullopt;
  }
}

void Summarise(Measurement* measurement) {
  if (measurement->times.empty()) return;
  measurement->median = Median(measurement->times);
  measurement->min = Quantile(measurement->times, 0);
  measurement->p95 = Quantile(measurement->times, 0.95);
}

Measurement MeasurePlan(LoadedPlan& plan, const MeasureOptions& options) {
  return MeasureInterleaved({&plan}, options).front();
}

std::vector<Measurement> MeasureInterleaved(const std::vector<LoadedPlan*>& plans, const MeasureOptions& options) {
  std::vector<Measurement> measurements(plans.size());
  const auto round = [&](int number, bool keep) {
    for (std::size_t turn = 0; turn < plans.size(); ++turn) {
      const std::size_t plan = number % 2 == 0 ? turn : plans.size() - 1 - turn;
      StopIfInterrupted();
      Measurement& measurement = measurements[plan];
      if (measurement.failed) continue;
      const std::optional<double> seconds = TryRun(*plans[plan], &measurement.error);
      measurement.failed = !seconds;
      if (seconds && keep) measurement.times.push_back(*seconds);
    }
  };
  for (int warm_up = 0; warm_up < options.warm_up; ++warm_up) round(warm_up, false);
  const DisturbanceWatch watch(options.cpus);
  const auto begin = std::chrono::steady_clock::now();
  double gone = 0, longest = 0;
  for (int repetition = 0; repetition < options.repetitions && (repetition == 0 || gone + longest < options.seconds);
       ++repetition) {
    const double before = gone;
    round(repetition, true);
    gone = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    longest = std::max(longest, gone - before);
  }
  const bool disturbed = watch.Disturbed();
  for (Measurement& measurement : measurements) {
    measurement.disturbed = disturbed;
    if (measurement.times.empty() && !measurement.failed) {
      measurement.failed = true;
      measurement.error = "no run was asked for";
    }
    Summarise(&measurement);
  }
  return measurements;
}

}  // namespace millrace
