// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/experiments/table.h"

// Trainings beside each other: log-partition variance against trajectory balance with a learned log Z and against PPO,
// or any others, by the logs they kept and the weights they left.
namespace millrace {

// What a training's sampler scored on its validation graphs after so many updates: HEFT's makespan over its own, at the
// reward temperature where its best samples were best.
struct ValidationPoint {
  std::int64_t update = 0;
  double seconds = 0;  // since the training began
  double best = 0;     // of the samples, mean over graphs
  double mean = 0;
  double greedy = 0;
  double wins = 0;  // share of the graphs
};

struct TrainingLog {
  std::vector<ValidationPoint> points;  // over all validation graphs, by update
  std::int64_t updates = 0;
  double seconds = 0;
};

// A log as `millrace train --log` writes it: a JSON object a line, of which those with "validation":"all" and those
// with "loss" are read. After a resumed training, the later record of an update counts. Throws InvalidInput, naming
// `name` and the line, for a line that is no object or has no number where there should be one, and for a log without
// any validation.
TrainingLog ParseTrainingLog(std::string_view text, const std::string& name);

struct TrainingRun {
  std::string name;
  TrainingLog log;
  std::string weights;  // file; empty: judged by its log alone
};

struct AblationOptions {
  bool quick = false;
  std::uint64_t seed = 0;
  int threads = 1;
};

// "trainings": updates, time, the last and the best validation. "curves": the best samples' score after a quarter, a
// half, three quarters and all of the updates. Where there are weights: "samples", the quality experiment's "overall"
// for the best of 64 on its graphs of 60 ops, one of each cell (quick: those of the quick grid), with the untrained
// sampler beside them.
std::vector<Table> AblationTables(const std::vector<TrainingRun>& runs, const AblationOptions& options,
                                  const std::function<void(int, int)>& progress);

}  // namespace millrace
