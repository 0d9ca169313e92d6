// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/experiments/table.h"

// How soon trainings that learn one graph come near the best plan they find: GO's question to HDP.
namespace millrace {

// After an update of a training. Seconds.
struct LearningPoint {
  std::int64_t evaluations = 0;  // plans measured on the target since it began
  double seconds = 0;            // wall time since it began
  double best_seconds = 0;       // of the best plan so far
};

// By update, of a log as `millrace train go --log` and `millrace train hdp --log` write it: a JSON object a line, of
// which those with evaluations and a best plan are read. Throws InvalidInput, naming `name` and the line, for a line
// that is no object or has no number where there should be one.
std::vector<LearningPoint> ParseLearningLog(std::string_view text, const std::string& name);

// The first whose best plan is at most `share` slower than `goal` seconds; nothing where none is.
std::optional<LearningPoint> FirstWithin(const std::vector<LearningPoint>& points, double goal, double share);

// The trainings of one workload, seed by seed.
struct LearningRow {
  std::string workload;
  std::vector<std::vector<std::vector<LearningPoint>>> points;  // by learner, seed
};

// "convergence": by workload and learner, means over seeds: seconds of its last best plan, evaluations and wall time
// until it is within 2 % of that. "ratios": for every learner but the last, what the last one takes over what it takes,
// geometric means over workloads and seeds with 95 % intervals: until each is within 2 % of its own last plan, and
// until the learner is within 2 % of the last one's last plan, where it gets there.
std::vector<Table> ConvergenceTables(const std::vector<std::string>& learners, const std::vector<LearningRow>& rows);

}  // namespace millrace
