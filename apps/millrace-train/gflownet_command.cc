// SPDX-License-Identifier: Apache-2.0
#include "gflownet_command.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "gflownet_progress.h"
#include "json_lines.h"
#include "learning_options.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/load.h"
#include "millrace/train/gflownet/trainer.h"
#include "training_ranks.h"

namespace millrace::cli {
namespace {

const std::vector<std::string> kKinds = {"gflownet", "ppo"};

void PrintSummary(const std::string& output, const TrainingSummary& summary) {
  std::string path;
  AppendJsonText(path, output);
  PrintLine(fmt::format(R"({{"output":{},"updates":{},"seconds":{},"best_of_samples_to_heft":{}}})", path,
                        summary.updates, JsonNumberOrNull(summary.seconds), JsonNumberOrNull(summary.best_score)));
}

}  // namespace

struct GFlowNetRequest {
  std::string kind;
  std::vector<std::string> graphs;
  LearningOptions learning;
};

GFlowNetCommand::GFlowNetCommand() : request_(std::make_unique<GFlowNetRequest>()) {
  GFlowNetRequest& r = *request_;
  app_.name("millrace train");
  app_.footer(
      "millrace train finetune --help: weights for one graph on one machine.\n"
      "millrace train go --help: weights of the policy that decides a whole graph at once.\n"
      "millrace train hdp --help: a placement of one graph, learned as a baseline.");
  app_.add_option("KIND", r.kind, fmt::format("What to learn: {}", fmt::join(kKinds, ", ")))
      ->required()
      ->check(CLI::IsMember(kKinds));
  GFlowNetSettings defaults;
  AddLearningOptions(app_, r.learning,
                     {.default_preset = "KIND", .default_checkpoint = "OUTPUT.checkpoint", .threads = "sample plans"},
                     TableOf(defaults));
  app_.add_option("--graphs", r.graphs, "Graph or model files to train on pieces of");
}

GFlowNetCommand::~GFlowNetCommand() = default;

namespace {

int Train(const GFlowNetRequest& r, mpi::Ranks* ranks) {
  const LearningOptions learning = OptionsOfRank(r.learning, ranks);
  GFlowNetTrainerOptions options;
  std::optional<Checkpoint> resume = ResumeFrom(learning, kGFlowNetCheckpoint);
  options.settings = SettingsOf<GFlowNetSettings>(learning, resume, r.kind);
  if (!resume && r.kind == "ppo") options.settings.objective = "ppo";
  if (resume) resume->settings = SettingsJson(options.settings);
  for (const std::string& file : r.graphs) options.graphs.push_back(LoadGraph(file).graph);
  SetLearningOptions(learning, ranks, options);
  options.checkpoint = learning.checkpoint.empty() ? learning.output + ".checkpoint" : learning.checkpoint;
  GFlowNetProgress progress(learning.log, learning.quiet);
  const TrainingSummary summary = TrainGFlowNet(options, resume, progress);
  if (learning.json) PrintSummary(learning.output, summary);
  return 0;
}

}  // namespace

int GFlowNetCommand::Run() const {
  return WorkWithRanks([this](mpi::Ranks* ranks) { return Train(*request_, ranks); });
}

}  // namespace millrace::cli
