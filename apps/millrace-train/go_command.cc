// SPDX-License-Identifier: Apache-2.0
#include "go_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "go_problems.h"
#include "json_lines.h"
#include "learning_options.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/load.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/plan/hash.h"
#include "millrace/train/go/trainer.h"
#include "setting_options.h"
#include "training_ranks.h"

namespace millrace::cli {

struct GoRequest {
  std::string graph;
  std::string machine;
  std::vector<std::string> without;
  std::string plan;
  std::vector<std::string> tasks;
  LearningOptions learning;
};

namespace {

class GoProgress : public GoObserver {
 public:
  explicit GoProgress(const LearningOptions& options) : log_(options.log), quiet_(options.quiet) {}

  void OnUpdate(const GoReport& r) override {
    log_.Write(fmt::format(
        R"({{"update":{},"evaluations":{},"seconds":{},"mean":{},"best":{},"best_seconds":{},"usable":{},"loss":{},)"
        R"("entropy":{},"demonstration_log_probability":{},"gradient_norm":{},"rollout_share":{}}})",
        r.update, r.evaluations, JsonNumberOrNull(r.seconds), JsonNumberOrNull(r.mean), JsonNumberOrNull(r.best),
        JsonNumberOrNull(r.best_seconds), JsonNumberOrNull(r.usable), JsonNumberOrNull(r.loss),
        JsonNumberOrNull(r.entropy), JsonNumberOrNull(r.demonstration_log_probability),
        JsonNumberOrNull(r.gradient_norm), JsonNumberOrNull(r.rollout_share)));
    if (quiet_ || isatty(STDERR_FILENO) != 1) return;
    fmt::print(stderr, "\rupdate {}: mean {:.3f} and best {:.3f} x reference   ", r.update, r.mean, r.best);
    std::fflush(stderr);
  }

  void OnValidation(const GoReport& r, const GoValidation& v, bool kept) override {
    log_.Write(fmt::format(R"({{"validation":"all","update":{},"seconds":{},"best":{},"mean":{},"greedy":{}}})",
                           r.update, JsonNumberOrNull(r.seconds), JsonNumberOrNull(v.best), JsonNumberOrNull(v.mean),
                           JsonNumberOrNull(v.greedy)));
    if (quiet_) return;
    fmt::print(stderr, "{}update {}, {:.0f} s: best {:.4f}, mean {:.4f}, greedy {:.4f} x reference{}\n",
               isatty(STDERR_FILENO) == 1 ? "\r" : "", r.update, r.seconds, v.best, v.mean, v.greedy,
               kept ? " (kept)" : "");
  }

 private:
  JsonLog log_;
  bool quiet_;
};

void WritePlan(const std::string& path, const GoTrainingProblem& problem, const KnownDecisions& best,
               std::uint64_t seed) {
  if (!std::isfinite(best.seconds)) throw WorkFailed("no plan it tried fits in memory");
  const DecodedPlan plan = problem.decoder().Decode(best.decisions);
  PlanRecord record;
  record.plan = plan.plan();
  record.graph_name = problem.graph().name();
  record.graph_hash = GraphHash(problem.graph());
  record.machine = problem.machine();
  record.method = "go";
  record.seed = seed;
  record.proxy_seconds = plan.makespan;
  record.target_seconds = best.seconds;
  WriteFileAtomically(path, PlanJson(record));
}

void PrintSummary(const std::string& output, const GoSummary& summary) {
  std::string line = R"({"output":)";
  AppendJsonText(line, output);
  line +=
      fmt::format(R"(,"updates":{},"evaluations":{},"seconds":{},"best_of_samples_to_reference":{})", summary.updates,
                  summary.evaluations, JsonNumberOrNull(summary.seconds), JsonNumberOrNull(summary.best_score));
  if (summary.best.size() == 1) line += R"(,"best_seconds":)" + JsonNumberOrNull(summary.best.front().seconds);
  PrintLine(line + "}");
}

}  // namespace

GoCommand::GoCommand() : request_(std::make_unique<GoRequest>()) {
  GoRequest& r = *request_;
  app_.name("millrace train go");
  GoSettings defaults;
  const SettingsTable settings = TableOf(defaults);
  AddLearningOptions(app_, r.learning,
                     {.default_preset = "go, with --graph go-finetune",
                      .default_checkpoint = "OUTPUT.checkpoint, with --graph none",
                      .threads = "sample and evaluate plans"},
                     settings);
  auto* graph = app_.add_option("--graph", r.graph, "Graph or model file to learn alone, not the preset's workloads");
  auto* machine = app_.add_option("--machine", r.machine, "Machine file or preset to learn it on");
  graph->needs(machine);
  machine->needs(graph);
  app_.add_option("--without", r.without, "Families of workloads that are left out, such as gnmt")->excludes(graph);
  app_.add_option("--plan", r.plan, "Write the best plan found for the graph here")->needs(graph);
  app_.add_option("--tasks", r.tasks, HelpOf(RowNamed(settings, "tasks")) + "; instead of the preset's")
      ->check(AllowedBy(RowNamed(settings, "tasks")))
      ->delimiter(',');
}

GoCommand::~GoCommand() = default;

namespace {

int Train(const GoRequest& r, mpi::Ranks* ranks) {
  const LearningOptions learning = OptionsOfRank(r.learning, ranks);
  const bool alone = !r.graph.empty();
  GoTrainerOptions options;
  std::optional<Checkpoint> resume = ResumeFrom(learning, kGoCheckpoint);
  GoSettings& settings = options.settings;
  settings = SettingsOf<GoSettings>(learning, resume, alone ? "go-finetune" : "go");
  if (!r.tasks.empty()) settings.tasks = r.tasks;
  if (resume) resume->settings = SettingsJson(settings);
  SetLearningOptions(learning, ranks, options);
  options.checkpoint = !learning.checkpoint.empty() ? learning.checkpoint
                       : alone                      ? ""
                                                    : learning.output + ".checkpoint";

  std::vector<GoTrainingProblem> problems, validation;
  if (alone) {
    problems.emplace_back(r.graph, LoadGraph(r.graph).graph, LoadMachine(r.machine));
  } else {
    problems = MakeGoProblems(settings.workloads, settings.machines, r.without);
    validation = MakeGoProblems(settings.validation_workloads, {}, r.without);
    const GoCaseLimits limits{.most_ops = settings.most_ops, .longest = settings.longest, .without = r.without};
    AddGoCases(GoCasePurpose::kTraining, settings.cases, limits, problems);
    AddGoCases(GoCasePurpose::kValidation, settings.validation_cases, limits, validation);
  }
  GoProgress progress(learning);
  const GoSummary summary = TrainGo(problems, validation, options, resume, progress);
  if (!r.plan.empty() && !IsFollower(ranks)) WritePlan(r.plan, problems.front(), summary.best.front(), learning.seed);
  if (learning.json) PrintSummary(learning.output, summary);
  return 0;
}

}  // namespace

int GoCommand::Run() const {
  return WorkWithRanks([this](mpi::Ranks* ranks) { return Train(*request_, ranks); });
}

}  // namespace millrace::cli
