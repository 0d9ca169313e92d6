// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "millrace/policy/weights.h"
#include "millrace/train/settings.h"

// Everything a training needs to go on as if it had never stopped, as one safetensors file. Chance is no part of it:
// all that is random follows from the seed and the number of the update.
namespace millrace {

struct Checkpoint {
  TrainingSettings settings;
  std::uint64_t seed = 0;
  std::int64_t update = 0;  // how many were made
  double seconds = 0;       // spent so far
  double time_limit = 0;    // seconds the training may take in all; 0: no limit
  std::string graphs;       // fingerprint of the real graphs trained on; empty: none
  Weights learner;          // Learner::Save
  Weights best;             // the averaged weights that validated best; no tensors before the first validation
  double best_score = 0;
};

void WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint);

// Throws InvalidInput, naming the file, where it is no checkpoint of a training.
Checkpoint ReadCheckpoint(const std::string& path);

}  // namespace millrace
