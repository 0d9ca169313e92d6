// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/checkpoint.h"

#include <string_view>

#include "millrace/errors/errors.h"
#include "millrace/train/checkpoint_parts.h"

namespace millrace {
namespace {

constexpr const char* kFormat = "millrace.checkpoint";
constexpr const char* kVersion = "1";
constexpr std::string_view kLearner = "learner.";
constexpr std::string_view kBest = "best.";

}  // namespace

void WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  Weights all;
  all.metadata = {{"format", kFormat},
                  {"format_version", kVersion},
                  {"settings", SettingsJson(checkpoint.settings)},
                  {"seed", std::to_string(checkpoint.seed)},
                  {"update", std::to_string(checkpoint.update)},
                  {"seconds", NumberText(checkpoint.seconds)},
                  {"time_limit", NumberText(checkpoint.time_limit)},
                  {"graphs", checkpoint.graphs},
                  {"best_score", NumberText(checkpoint.best_score)}};
  PutPart(checkpoint.learner, kLearner, all);
  PutPart(checkpoint.best, kBest, all);
  WriteWeights(path, all);
}

Checkpoint ReadCheckpoint(const std::string& path) {
  const Weights all = ReadWeights(path);
  try {
    if (EntryOf(all, "format") != kFormat || EntryOf(all, "format_version") != kVersion) {
      throw InvalidInput("no checkpoint of this version; start the training again");
    }
    Checkpoint checkpoint;
    checkpoint.settings = ParseSettings(EntryOf(all, "settings"));
    checkpoint.seed = SeedOf(all, "seed");
    checkpoint.update = IntegerOf(all, "update");
    checkpoint.seconds = RealOf(all, "seconds");
    checkpoint.time_limit = RealOf(all, "time_limit");
    checkpoint.graphs = EntryOf(all, "graphs");
    checkpoint.best_score = RealOf(all, "best_score");
    checkpoint.learner = TakePart(all, kLearner);
    checkpoint.best = TakePart(all, kBest);
    return checkpoint;
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

}  // namespace millrace
