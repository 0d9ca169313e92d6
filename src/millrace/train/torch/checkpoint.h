// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "millrace/network/weights.h"

// What a training needs to go on as if it had never stopped, as one safetensors file. Chance is no part of it: all that
// is random follows from the seed and the number of the update. Times are seconds.
namespace millrace {

struct Checkpoint {
  std::string settings = {};  // as JSON
  std::uint64_t seed = 0;
  std::int64_t update = 0;      // how many were made
  double seconds = 0;           // spent so far
  double time_limit = 0;        // in all; 0: none
  std::string trained_on = {};  // fingerprint of the graphs or problems
  Weights learner = {};         // Learner::Save
  Weights best = {};            // the averaged weights that validated best; no tensors before the first validation
  double best_score = 0;
  Weights memory = {};  // what this kind of training remembers beside these, under names of its own
};

// What tells the checkpoints of one kind of training from those of another.
struct CheckpointKind {
  const char* format;      // "format" in the file
  const char* trained_on;  // name of the fingerprint in the file: "graphs", "problems"
  // Throws InvalidInput where settings or memory are none of this kind.
  void (*check)(const Checkpoint& checkpoint);
};

// Throws WorkFailed where the file cannot be written; an older one is then as it was.
void WriteCheckpoint(const std::string& path, const CheckpointKind& kind, const Checkpoint& checkpoint);

// Throws InvalidInput, naming the file, where it is no checkpoint of this kind.
Checkpoint ReadCheckpoint(const std::string& path, const CheckpointKind& kind);

// What memories are put together from: parts with a name before theirs, and entries of text. Texts of numbers read back
// as the very same.
void PutPart(const Weights& part, const std::string& prefix, Weights& all);
Weights TakePart(const Weights& all, const std::string& prefix);
std::string NumberText(double number);

// Throw InvalidInput, naming the entry, where it is missing or no such number.
const std::string& EntryOf(const Weights& all, const std::string& name);
double RealOf(const Weights& all, const std::string& name);
std::int64_t IntegerOf(const Weights& all, const std::string& name);

}  // namespace millrace
