// SPDX-License-Identifier: Apache-2.0
#include "go_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "go_problems.h"
#include "learning_options.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/load.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/plan/hash.h"
#include "millrace/train/go_trainer.h"
#include "preset_file.h"

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

std::string Number(double value) {
  if (!std::isfinite(value)) return "null";  // a best that is not known yet
  std::string text;
  AppendJsonNumber(text, value);
  return text;
}

class GoProgress : public GoObserver {
 public:
  explicit GoProgress(const LearningOptions& options) : path_(options.log), quiet_(options.quiet) {
    if (path_.empty()) return;
    log_.open(path_, std::ios::app);
    if (!log_) throw InvalidInput(path_ + ": cannot be opened to write the log to");
  }

  void OnUpdate(const GoReport& r) override {
    Log(fmt::format(
        R"({{"update":{},"evaluations":{},"seconds":{},"mean":{},"best":{},"best_seconds":{},"usable":{},"loss":{},)"
        R"("entropy":{},"example_log_probability":{},"gradient_norm":{},"rollout_share":{}}})",
        r.update, r.evaluations, Number(r.seconds), Number(r.mean), Number(r.best), Number(r.best_seconds),
        Number(r.usable), Number(r.loss), Number(r.entropy), Number(r.example_log_probability), Number(r.gradient_norm),
        Number(r.rollout_share)));
    if (quiet_ || isatty(STDERR_FILENO) != 1) return;
    fmt::print(stderr, "\rupdate {}: mean {:.3f} and best {:.3f} x reference   ", r.update, r.mean, r.best);
    std::fflush(stderr);
  }

  void OnValidation(const GoReport& r, const GoValidation& v, bool kept) override {
    Log(fmt::format(R"({{"validation":"all","update":{},"seconds":{},"best":{},"mean":{},"greedy":{}}})", r.update,
                    Number(r.seconds), Number(v.best), Number(v.mean), Number(v.greedy)));
    if (quiet_) return;
    fmt::print(stderr, "{}update {}, {:.0f} s: best {:.4f}, mean {:.4f}, greedy {:.4f} x reference{}\n",
               isatty(STDERR_FILENO) == 1 ? "\r" : "", r.update, r.seconds, v.best, v.mean, v.greedy,
               kept ? " (kept)" : "");
  }

 private:
  void Log(const std::string& line) {
    if (!log_.is_open()) return;
    log_ << line << '\n' << std::flush;
    if (!log_) throw WorkFailed(path_ + ": the log cannot be written");
  }

  std::ofstream log_;
  std::string path_;
  bool quiet_;
};

void WritePlan(const std::string& path, const GoProblem& problem, const KnownDecisions& best, std::uint64_t seed) {
  if (!std::isfinite(best.seconds)) throw WorkFailed("no plan it tried fits in memory");
  const OneShotPlan plan = problem.decoder().Decode(best.decisions);
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
  line += fmt::format(R"(,"updates":{},"evaluations":{},"seconds":{},"best_of_samples_to_reference":{})",
                      summary.updates, summary.evaluations, Number(summary.seconds), Number(summary.best_score));
  if (summary.best.size() == 1) line += fmt::format(R"(,"best_seconds":{})", Number(summary.best.front().seconds));
  line += "}\n";
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    throw WorkFailed("stdout: could not write the result");
  }
}

}  // namespace

GoCommand::GoCommand() : request_(std::make_unique<GoRequest>()) {
  GoRequest& r = *request_;
  app_.name("millrace train go");
  AddLearningOptions(app_, r.learning,
                     {.default_preset = "go, with --graph go-finetune",
                      .default_checkpoint = "OUTPUT.checkpoint, with --graph none",
                      .threads = "draw and judge plans"});
  auto* graph = app_.add_option("--graph", r.graph, "Graph or model file to learn alone, not the preset's workloads");
  auto* machine = app_.add_option("--machine", r.machine, "Machine file or preset to learn it on");
  graph->needs(machine);
  machine->needs(graph);
  app_.add_option("--without", r.without, "Families of workloads that are left out, such as gnmt")->excludes(graph);
  app_.add_option("--plan", r.plan, "Write the best plan found for the graph here")->needs(graph);
  app_.add_option("--tasks", r.tasks, "Instead of the preset's: placement, priority, fusion, or some of them")
      ->delimiter(',');
}

GoCommand::~GoCommand() = default;

int GoCommand::Run() const {
  const GoRequest& r = *request_;
  const LearningOptions& learning = r.learning;
  const bool alone = !r.graph.empty();
  const std::string preset = !learning.preset.empty() ? learning.preset : alone ? "go-finetune" : "go";
  GoTrainerOptions options;
  std::optional<GoCheckpoint> resume;
  if (!learning.resume.empty()) resume = ReadGoCheckpoint(learning.resume);
  GoSettings settings = resume ? resume->settings : ReadGoSettings(FindPreset(preset));
  if (learning.updates) settings.updates = *learning.updates;
  if (!r.tasks.empty()) settings.tasks = r.tasks;
  CheckGoSettings(settings);
  if (resume) resume->settings = settings;
  options.settings = settings;
  SetLearningOptions(learning, options);
  options.checkpoint = !learning.checkpoint.empty() ? learning.checkpoint
                       : alone                      ? ""
                                                    : learning.output + ".checkpoint";

  std::vector<GoProblem> problems, validation;
  if (alone) {
    problems.emplace_back(r.graph, LoadGraph(r.graph).graph, LoadMachine(r.machine));
  } else {
    problems = MakeGoProblems(settings.workloads, settings.machines, r.without);
    validation = MakeGoProblems(settings.validation_workloads, {}, r.without);
  }
  GoProgress progress(learning);
  const GoSummary summary = TrainGo(problems, validation, options, resume, progress);
  if (!r.plan.empty()) WritePlan(r.plan, problems.front(), summary.best.front(), learning.seed);
  if (learning.json) PrintSummary(learning.output, summary);
  return 0;
}

}  // namespace millrace::cli
