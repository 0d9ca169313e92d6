// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "millrace/policy/weights.h"

// The options of every training that can be stopped and resumed.
namespace millrace::cli {

struct LearningOptions {
  std::string output;
  std::string preset;
  std::string checkpoint;
  std::string resume;
  std::string start;
  std::string log;
  std::uint64_t seed = 0;
  int threads = 1;
  int torch_threads = 1;
  std::optional<int> updates;
  std::optional<double> time_limit;  // seconds
  double checkpoint_seconds = 180;
  bool quiet = false;
  bool json = false;
};

// What their help says of this training.
struct LearningHelp {
  std::string default_preset;      // "KIND"
  std::string default_checkpoint;  // "OUTPUT.checkpoint"
  std::string threads;             // what they do: "draw plans"
};

// `options` must outlive the app.
void AddLearningOptions(CLI::App& app, LearningOptions& options, const LearningHelp& help);

// The same settings in the options of a trainer's library, but for `checkpoint`, whose default is each command's own.
// Throws InvalidInput where the weights to start from cannot be read.
template <typename TrainerOptions>
void SetLearningOptions(const LearningOptions& from, TrainerOptions& to) {
  to.seed = from.seed;
  to.threads = from.threads;
  to.torch_threads = from.torch_threads;
  to.time_limit = from.time_limit;
  if (!from.start.empty()) to.start = ReadWeights(from.start);
  to.output = from.output;
  to.checkpoint_seconds = from.checkpoint_seconds;
}

}  // namespace millrace::cli
