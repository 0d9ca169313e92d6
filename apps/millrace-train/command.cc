// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "learning_options.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/load.h"
#include "millrace/train/trainer.h"
#include "preset_file.h"
#include "progress.h"

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
  std::vector<std::string> graphs;
  LearningOptions learning;
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
  AddLearningOptions(app_, r.learning,
                     {.default_preset = "KIND", .default_checkpoint = "OUTPUT.checkpoint", .threads = "draw plans"});
  app_.add_option("--graphs", r.graphs, "Graph or model files to train on pieces of");
}

TrainCommand::~TrainCommand() = default;

int TrainCommand::Run() const {
  const Request& r = *request_;
  const LearningOptions& learning = r.learning;
  TrainerOptions options;
  std::optional<Checkpoint> resume;
  if (learning.resume.empty()) {
    options.settings = ReadSettings(FindPreset(learning.preset.empty() ? r.kind : learning.preset));
    if (r.kind == "ppo") options.settings.objective = "ppo";
  } else {
    resume = ReadCheckpoint(learning.resume);
  }
  if (learning.updates) (resume ? resume->settings : options.settings).updates = *learning.updates;
  for (const std::string& file : r.graphs) options.graphs.push_back(LoadGraph(file).graph);
  SetLearningOptions(learning, options);
  options.checkpoint = learning.checkpoint.empty() ? learning.output + ".checkpoint" : learning.checkpoint;
  Progress progress(learning.log, learning.quiet);
  const TrainingSummary summary = Train(options, resume, progress);
  if (learning.json) PrintSummary(learning.output, summary);
  return 0;
}

}  // namespace millrace::cli
