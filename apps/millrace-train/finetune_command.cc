// SPDX-License-Identifier: Apache-2.0
#include "finetune_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "command_line/limits.h"
#include "json_lines.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/load.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/network/model_file.h"
#include "millrace/train/gflownet/finetune.h"
#include "setting_options.h"
#include "training_ranks.h"

namespace millrace::cli {

struct FinetuneRequest {
  std::string graph;
  std::string machine;
  std::string plan;
  std::string start;
  std::string output;
  FinetuneSettings settings;
  bool quiet = false;
  bool json = false;
};

namespace {

// Its groups are kept, and it is a demonstration itself.
Plan PlanOf(const FinetuneRequest& r, const ComputationGraph& graph, const Machine& machine) {
  if (r.plan.empty()) return {.groups = SingleOpGroups(graph), .placement = {}, .sequence = {}};
  PlanReading reading;
  reading.machine = machine;
  return LoadPlan(r.plan, graph, reading).plan;
}

void PrintSummary(const FinetuneRequest& r, const Finetuned& tuned, double reference) {
  std::string output;
  AppendJsonText(output, r.output);
  PrintLine(fmt::format(
      R"({{"output":{},"updates":{},"seconds":{},"heft_seconds":{},"samples":{},"best_before_seconds":{},)"
      R"("best_after_seconds":{},"mean_before_seconds":{},"mean_after_seconds":{},"best_found_seconds":{}}})",
      output, tuned.updates, JsonNumberOrNull(tuned.seconds), JsonNumberOrNull(reference),
      r.settings.evaluation_samples, JsonNumberOrNull(tuned.before.best), JsonNumberOrNull(tuned.after.best),
      JsonNumberOrNull(tuned.before.mean), JsonNumberOrNull(tuned.after.mean),
      JsonNumberOrNull(tuned.plans.front().makespan)));
}

}  // namespace

FinetuneCommand::FinetuneCommand() : request_(std::make_unique<FinetuneRequest>()) {
  FinetuneRequest& r = *request_;
  FinetuneSettings& s = r.settings;
  app_.name("millrace train finetune");
  app_.add_option("--graph", r.graph, "Graph or model file")->required();
  app_.add_option("--machine", r.machine, "Machine file or preset")->required();
  app_.add_option(
      "--plan", r.plan,
      "Plan, of any method, whose fusion groups are kept and which is imitated; default: every op by itself");
  app_.add_option("--start", r.start, "Weights to start from; default: those that came with Millrace");
  app_.add_option("-o,--output", r.output, "Weights file (.safetensors)")->required();
  app_.add_option("--seconds", s.seconds, "Seconds it may take")->check(AboveZero());
  app_.add_option("--updates", s.updates, "Updates it may take: deterministic without --seconds")
      ->check(WholeFrom(0, 1'000'000'000));
  AddSeed(app_, s.seed, "Same seed, same weights");
  app_.add_option("--threads", s.threads, "Threads that sample plans")
      ->check(WholeFrom(1, 4096))
      ->capture_default_str();
  app_.add_option("--torch-threads", s.torch_threads, "Threads of libtorch")
      ->check(WholeFrom(1, 4096))
      ->capture_default_str();
  AddSettingOptions(app_, TableOf(s));
  app_.add_flag("--json", r.json, "Print one JSON object on stdout at the end");
  app_.add_flag("-q,--quiet", r.quiet, "Say nothing but errors");
}

FinetuneCommand::~FinetuneCommand() = default;

int FinetuneCommand::Run() const {
  RefuseRanks();
  const FinetuneRequest& r = *request_;
  const ComputationGraph graph = LoadGraph(r.graph).graph;
  if (graph.num_ops() == 0) throw InvalidInput(r.graph + ": a graph without ops has no plan to learn");
  const Machine machine = LoadMachine(r.machine);
  Plan plan = PlanOf(r, graph, machine);
  FinetuneSettings settings = r.settings;
  if (!plan.placement.empty()) settings.demonstrations.push_back({std::move(plan.placement), std::move(plan.sequence)});
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), std::move(plan.groups));
  const Environment environment(costed);
  const Weights start = ReadWeights(r.start.empty() ? FindModelFile("gflownet.safetensors") : r.start);
  const double reference = environment.reference_makespan();
  const bool live = !r.quiet && isatty(STDERR_FILENO) == 1;
  Finetuned tuned = Finetune(environment, start, settings, [&](std::int64_t updates, double best) {
    if (live && best > 0) fmt::print(stderr, "\rupdate {}: best {:.4f} x HEFT   ", updates, reference / best);
  });
  if (live) fmt::print(stderr, "\r{:60}\r", "");
  WriteWeights(r.output, tuned.weights);
  if (!r.quiet && tuned.after.best > 0) {
    fmt::print(stderr, "{} updates in {:.1f} s: best of {} plans {:.4f} x HEFT, {:.4f} before\n", tuned.updates,
               tuned.seconds, r.settings.evaluation_samples, reference / tuned.after.best,
               reference / tuned.before.best);
  }
  if (r.json) PrintSummary(r, tuned, reference);
  return 0;
}

}  // namespace millrace::cli
