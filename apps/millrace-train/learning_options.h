// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "millrace/train/torch/checkpoint.h"
#include "millrace/train/torch/settings_table.h"
#include "millrace/train/torch/training_loop.h"
#include "preset_file.h"

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

// `options` must outlive the app. `settings` are those of a preset: --help-settings prints them.
void AddLearningOptions(CLI::App& app, LearningOptions& options, const LearningHelp& help,
                        const SettingsTable& settings);

// The same in the options of a trainer, but for `checkpoint`, whose default is each command's own. `ranks` may be null.
// Throws InvalidInput where the weights to start from cannot be read.
void SetLearningOptions(const LearningOptions& from, mpi::Ranks* ranks, TrainingOptions& to);

// What this rank heeds of them: all but rank 0 are silent and write no log. `ranks` may be null.
LearningOptions OptionsOfRank(const LearningOptions& from, const mpi::Ranks* ranks);

// The checkpoint to go on from, nothing where none is asked for. Throws InvalidInput where it cannot be read.
std::optional<Checkpoint> ResumeFrom(const LearningOptions& from, const CheckpointKind& kind);

// The settings of that checkpoint, else of the preset, with the number of updates asked for. Throws InvalidInput where
// the preset cannot be read.
template <typename Settings>
Settings SettingsOf(const LearningOptions& from, const std::optional<Checkpoint>& resume,
                    const std::string& default_preset) {
  Settings settings = resume ? ParseSettings<Settings>(resume->settings)
                             : ReadSettings<Settings>(FindPreset(from.preset.empty() ? default_preset : from.preset));
  if (from.updates) settings.updates = *from.updates;
  return settings;
}

}  // namespace millrace::cli
