// SPDX-License-Identifier: Apache-2.0
#include "learning_options.h"
#include "command_line/limits.h"

#include "millrace/network/weights.h"
#include "setting_options.h"
#include "training_ranks.h"

namespace millrace::cli {

void AddLearningOptions(CLI::App& app, LearningOptions& options, const LearningHelp& help,
                        const SettingsTable& settings) {
  app.add_option("-o,--output", options.output, "Weights file (.safetensors) for the best weights so far")->required();
  auto* preset = app.add_option("--preset", options.preset,
                                "Settings: a .json file, or the name of a preset; default: " + help.default_preset);
  auto* seed = AddSeed(app, options.seed, "Same seed, same weights");
  const Setting& updates = RowNamed(settings, "updates");
  app.add_option("--updates", options.updates, HelpOf(updates) + ", instead of the preset's")
      ->check(AllowedBy(updates));
  app.add_option("--time-limit", options.time_limit, "Seconds in all")->check(AboveZero());
  app.add_option("--threads", options.threads, "Threads that " + help.threads)
      ->check(WholeFrom(1, 4096))
      ->capture_default_str();
  app.add_option("--torch-threads", options.torch_threads, "Threads of libtorch")
      ->check(WholeFrom(1, 4096))
      ->capture_default_str();
  app.add_option("--checkpoint", options.checkpoint,
                 "Where to keep what --resume needs; default: " + help.default_checkpoint);
  app.add_option("--checkpoint-seconds", options.checkpoint_seconds, "Seconds between checkpoints")
      ->check(AboveZero())
      ->capture_default_str();
  auto* start = app.add_option("--start", options.start, "Weights to start from: fine-tuning");
  app.add_option("--resume", options.resume, "Go on from this checkpoint, with its settings and seed")
      ->excludes(preset)
      ->excludes(seed)
      ->excludes(start);
  app.add_option("--log", options.log, "Append a log of JSON lines to this file");
  app.add_flag("--json", options.json, "Print one JSON object on stdout at the end");
  app.add_flag("-q,--quiet", options.quiet, "Say nothing but errors");
  app.set_version_flag(
      "--help-settings", [text = RowsHelp(settings)] { return "Settings of a preset:\n" + text; },
      "Print what each setting of a preset means, and exit");
}

void SetLearningOptions(const LearningOptions& from, mpi::Ranks* ranks, TrainingOptions& to) {
  to.seed = from.seed;
  to.threads = from.threads;
  to.torch_threads = from.torch_threads;
  to.time_limit = from.time_limit;
  if (!from.start.empty()) to.start = ReadWeights(from.start);
  to.output = from.output;
  to.checkpoint_seconds = from.checkpoint_seconds;
  to.ranks = ranks;
}

LearningOptions OptionsOfRank(const LearningOptions& from, const mpi::Ranks* ranks) {
  LearningOptions own = from;
  if (!IsFollower(ranks)) return own;
  own.log.clear();
  own.quiet = true;
  own.json = false;
  return own;
}

std::optional<Checkpoint> ResumeFrom(const LearningOptions& from, const CheckpointKind& kind) {
  if (from.resume.empty()) return std::nullopt;
  return ReadCheckpoint(from.resume, kind);
}

}  // namespace millrace::cli
