// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/policy/weights.h"
#include "millrace/train/go_problem.h"
#include "millrace/train/go_settings.h"

// Everything a training of GO needs to go on as if it had never stopped, as one safetensors file. Chance is no part of
// it: all that is random follows from the seed and the number of the update.
namespace millrace {

// What a training remembers of one problem.
struct GoMemory {
  KnownDecisions best;
  std::int64_t searches = 0;      // by experts
  std::vector<double> baselines;  // moving mean reward, by iteration; empty before the first draw
  double deviation = 0;           // moving deviation from it
};

struct GoCheckpoint {
  GoSettings settings;
  std::uint64_t seed = 0;
  std::int64_t update = 0;
  std::int64_t evaluations = 0;
  double seconds = 0;
  double time_limit = 0;  // 0: none
  std::string problems;   // fingerprint of those trained on
  std::vector<GoMemory> memories;
  Weights learner;  // SageLearner::Save
  Weights best;     // the averaged weights that validated best; no tensors before the first validation
  double best_score = 0;
};

void WriteGoCheckpoint(const std::string& path, const GoCheckpoint& checkpoint);

// Throws InvalidInput, naming the file, where it is no checkpoint of a training of GO.
GoCheckpoint ReadGoCheckpoint(const std::string& path);

}  // namespace millrace
