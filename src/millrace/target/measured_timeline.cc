// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/measured_timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/target/statistics.h"

namespace millrace {

Timeline TimelineOf(std::span<const StepTime> steps, std::size_t num_groups) {
  Timeline timeline;
  timeline.start.assign(num_groups, std::numeric_limits<double>::infinity());
  timeline.finish.assign(num_groups, 0.0);
  for (const StepTime& step : steps) {
    const auto group = static_cast<std::size_t>(step.group);
    timeline.start[group] = std::min(timeline.start[group], step.start);
    timeline.finish[group] = std::max(timeline.finish[group], step.finish);
    timeline.makespan = std::max(timeline.makespan, step.finish);
  }
  for (std::size_t group = 0; group < num_groups; ++group)
    timeline.start[group] = std::min(timeline.start[group], timeline.finish[group]);
  return timeline;
}

std::optional<MeasuredTimeline> MedianOf(std::vector<TimedRun> runs) {
  if (runs.empty()) return std::nullopt;
  MeasuredTimeline measured;
  measured.runs = static_cast<int>(runs.size());
  std::vector<double> seconds(runs.size());
  for (std::size_t group = 0; group < runs.front().timeline.start.size(); ++group) {
    std::transform(runs.begin(), runs.end(), seconds.begin(),
                   [group](const TimedRun& run) { return run.timeline.finish[group] - run.timeline.start[group]; });
    measured.group_seconds.push_back(Median(seconds));
  }
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
  std::nth_element(runs.begin(), middle, runs.end(),
                   [](const TimedRun& a, const TimedRun& b) { return a.seconds < b.seconds; });
  measured.run_seconds = middle->seconds;
  measured.run = std::move(middle->timeline);
  return measured;
}

std::optional<MeasuredTimeline> MeasureTimeline(LoadedPlan& plan, int runs) {
  std::vector<TimedRun> timed;
  try {
    while (static_cast<int>(timed.size()) < runs) {
      StopIfInterrupted();
      std::optional<TimedRun> run = plan.RunTimed();
      if (!run) return std::nullopt;
      timed.push_back(*std::move(run));
    }
  } catch (const MeasurementFailed&) {
    return std::nullopt;
  }
  return MedianOf(std::move(timed));
}

}  // namespace millrace
