// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/quality/ablation.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/report/progress_bar.h"
#include "millrace/trainer_program.h"

// millrace bench ablation: trainings beside each other, run before or by this command.
namespace millrace::cli {
namespace {

namespace fs = std::filesystem;

struct Objective {
  const char* kind;  // of millrace train
  const char* name;  // in its settings
};
constexpr Objective kObjectives[] = {
    {"gflownet", "log_partition_variance"}, {"gflownet", "trajectory_balance"}, {"ppo", "ppo"}};

constexpr double kMostSecondsOfATraining = 24 * 3600;

struct AblationFlags {
  bool quick = false;
  std::vector<std::string> runs;  // NAME=STEM: STEM.jsonl is the log, STEM.safetensors the weights
  int updates = 0;                // above 0: run short trainings
  std::string preset;             // file of their settings
  std::string output;             // folder for them
};

std::string LogOf(const std::string& stem) { return stem + ".jsonl"; }
std::string WeightsOf(const std::string& stem) { return stem + ".safetensors"; }

// Trains with the settings of a preset but for the objective.
void TrainRun(const Objective& objective, const AblationFlags& options, std::uint64_t seed, const std::string& stem) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::parse(ReadWholeFile(options.preset), nullptr, false);
  if (!settings.is_object()) throw InvalidInput(options.preset + ": not a JSON object of settings");
  settings["objective"] = objective.name;
  WriteFileAtomically(stem + ".json", settings.dump(2) + "\n");
  std::error_code error;
  fs::remove(LogOf(stem), error);
  const ChildResult result =
      RunTrainer({objective.kind, "--preset", stem + ".json", "--updates", std::to_string(options.updates), "--seed",
                  std::to_string(seed), "--log", LogOf(stem), "-o", WeightsOf(stem), "--quiet"},
                 kMostSecondsOfATraining);
  if (!Succeeded(result)) throw WorkFailed("training " + stem + " failed: " + WhyTrainerFailed(result));
}

TrainingRun ReadRun(const std::string& name, const std::string& stem) {
  TrainingRun run;
  run.name = name;
  run.log = ParseTrainingLog(ReadWholeFile(LogOf(stem)), LogOf(stem));
  std::error_code error;
  if (fs::exists(WeightsOf(stem), error)) run.weights = WeightsOf(stem);
  return run;
}

int RunAblation(const CommandLine& line, const AblationFlags& options) {
  if (options.runs.empty() && options.updates == 0)
    throw InvalidInput("ablation: name trainings with --runs NAME=STEM, or have them run with --updates and --preset");
  BenchAccount account(line, ThreadsOf(line));
  ProgressBar bar(line.common.quiet);
  std::vector<TrainingRun> runs;
  for (const std::string& words : options.runs) {
    const std::size_t equals = words.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InvalidInput("--runs: '" + words + "' is not NAME=STEM, where STEM.jsonl is the training's log");
    runs.push_back(ReadRun(words.substr(0, equals), words.substr(equals + 1)));
    account.Note("Run: " + words);
  }
  if (options.updates > 0) {
    if (options.preset.empty() || options.output.empty())
      throw InvalidInput("ablation: --updates needs --preset FILE and a folder for the trainings, --output DIR");
    fs::create_directories(options.output);
    account.Note(fmt::format("Trained here: {} updates each of {}, seed {}.", options.updates, options.preset,
                             line.common.seed));
    int done = 0;
    for (const Objective& objective : kObjectives) {
      const std::string stem =
          (fs::path(options.output) / fmt::format("{}-seed{}", objective.name, line.common.seed)).string();
      bar.Show("trainings", done++, static_cast<int>(std::size(kObjectives)));
      TrainRun(objective, options, line.common.seed, stem);
      runs.push_back(ReadRun(objective.name, stem));
    }
  }
  AblationOptions ablation;
  ablation.quick = options.quick;
  ablation.seed = line.common.seed;
  ablation.threads = ThreadsOf(line);
  const std::vector<Table> tables =
      AblationTables(runs, ablation, [&bar](int done, int total) { bar.Show("graphs", done, total); });
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace

ExperimentRun AddAblation(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<AblationFlags>();
  AddQuick(flags, options->quick, "Samples on the quality experiment's quick graphs only");
  AddList(flags, "--runs", options->runs, "Trainings, NAME=STEM: STEM.jsonl is the log, STEM.safetensors the weights");
  flags.add_option("--updates", options->updates, "Train for so many updates with each objective")
      ->check(WholeFrom(0, 1'000'000'000));
  flags.add_option("--preset", options->preset, "Settings of these trainings (.json)");
  flags.add_option("-o,--output", options->output, "Folder for these trainings");
  return [&line, options] { return RunAblation(line, *options); };
}

}  // namespace millrace::cli
