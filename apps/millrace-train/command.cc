// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <optional>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/load.h"
#include "millrace/train/trainer.h"
#include "preset_file.h"
#include "progress.h"
#include "seconds.h"

namespace millrace::cli {
namespace {

const std::vector<std::string> kKinds = {"gflownet", "ppo"};

void PrintSummary(const std::string& output, const TrainingSummary& summary) {
  std::string line = R"({"output":)";
  AppendJsonText(line, output);
  line += fmt::format(R"(,"updates":{},"seconds":)", summary.updates);
  AppendJsonNumber(line, summary.seconds);
  line += R"(,"best_of_samples_to_heft":)";
  AppendJsonNumber(line, summary.best_score);
  line += "}\n";
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    throw WorkFailed("stdout: could not write the result");
  }
}

}  // namespace

struct Request {
  std::string kind;
  std::string preset;
  std::string output;
  std::string checkpoint;
  std::string resume;
  std::string start;
  std::string log;
  std::vector<std::string> graphs;
  std::uint64_t seed = 0;
  int threads = 1;
  int torch_threads = 1;
  std::optional<int> updates;
  std::optional<double> time_limit;
  double checkpoint_seconds = 180;
  bool quiet = false;
  bool json = false;
};

TrainCommand::TrainCommand() : request_(std::make_unique<Request>()) {
  Request& r = *request_;
  app_.name("millrace train");
  app_.footer(
      "millrace train finetune --help: weights for one graph on one machine.\n"
      "millrace train go --help: weights of the policy that decides a whole graph at once.\n"
      "millrace train hdp --help: a placement of one graph, learned as a baseline.");
  app_.add_option("KIND", r.kind, fmt::format("What to learn: {}", fmt::join(kKinds, ", ")))
      ->required()
      ->check(CLI::IsMember(kKinds));
  app_.add_option("-o,--output", r.output, "Weights file (.safetensors) for the best weights so far")->required();
  auto* preset =
      app_.add_option("--preset", r.preset, "Settings: a .json file, or the name of a preset; default: KIND");
  auto* seed = app_.add_option("--seed", r.seed, "Same seed, same weights")->capture_default_str();
  app_.add_option("--updates", r.updates, "Updates in all, instead of the preset's")
      ->check(CLI::Range(0, 1'000'000'000));
  app_.add_option("--time-limit", r.time_limit, "Seconds in all")->check(PositiveSeconds());
  app_.add_option("--threads", r.threads, "Threads that draw plans")->check(CLI::Range(1, 4096))->capture_default_str();
  app_.add_option("--torch-threads", r.torch_threads, "Threads of libtorch")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app_.add_option("--checkpoint", r.checkpoint, "Where to keep what --resume needs; default: OUTPUT.checkpoint");
  app_.add_option("--checkpoint-seconds", r.checkpoint_seconds, "Seconds between checkpoints")
      ->check(PositiveSeconds())
      ->capture_default_str();
  auto* start = app_.add_option("--start", r.start, "Weights to start from: fine-tuning");
  app_.add_option("--resume", r.resume, "Go on from this checkpoint, with its settings and seed")
      ->excludes(preset)
      ->excludes(seed)
      ->excludes(start);
  app_.add_option("--graphs", r.graphs, "Graph or model files to train on pieces of");
  app_.add_option("--log", r.log, "Append a log of JSON lines to this file");
  app_.add_flag("--json", r.json, "Print one JSON object on stdout at the end");
  app_.add_flag("-q,--quiet", r.quiet, "Say nothing but errors");
}

TrainCommand::~TrainCommand() = default;

int TrainCommand::Run() const {
  const Request& r = *request_;
  TrainerOptions options;
  std::optional<Checkpoint> resume;
  if (r.resume.empty()) {
    options.settings = ReadSettings(FindPreset(r.preset.empty() ? r.kind : r.preset));
    if (r.kind == "ppo") options.settings.objective = "ppo";
  } else {
    resume = ReadCheckpoint(r.resume);
  }
  if (r.updates) (resume ? resume->settings : options.settings).updates = *r.updates;
  options.seed = r.seed;
  options.threads = r.threads;
  options.torch_threads = r.torch_threads;
  options.time_limit = r.time_limit;
  for (const std::string& file : r.graphs) options.graphs.push_back(LoadGraph(file).graph);
  if (!r.start.empty()) options.start = ReadWeights(r.start);
  options.output = r.output;
  options.checkpoint = r.checkpoint.empty() ? r.output + ".checkpoint" : r.checkpoint;
  options.checkpoint_seconds = r.checkpoint_seconds;
  Progress progress(r.log, r.quiet);
  const TrainingSummary summary = Train(options, resume, progress);
  if (r.json) PrintSummary(r.output, summary);
  return 0;
}

}  // namespace millrace::cli
