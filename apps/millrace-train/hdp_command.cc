// SPDX-License-Identifier: Apache-2.0
#include "hdp_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "command_line/limits.h"
#include "json_lines.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/load.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/plan/hash.h"
#include "millrace/simulate/timeline.h"
#include "millrace/train/hdp/trainer.h"
#include "setting_options.h"
#include "training_ranks.h"

namespace millrace::cli {

struct HdpRequest {
  std::string graph;
  std::string machine;
  std::string fusion = "greedy";
  std::string output;
  std::string log;
  HdpSettings settings;
  bool quiet = false;
  bool json = false;
};

namespace {

// Numbers only: null where nothing fitted in memory yet.
std::string Line(const HdpProgress& progress) {
  return fmt::format(R"({{"updates":{},"evaluations":{},"seconds":{},"best_seconds":{},"mean_seconds":{}}})",
                     progress.updates, progress.evaluations, JsonNumberOrNull(progress.seconds),
                     JsonNumberOrNull(progress.best_seconds),
                     progress.mean_seconds > 0 ? JsonNumberOrNull(progress.mean_seconds) : "null");
}

std::string PlanFile(const HdpRequest& r, const ComputationGraph& graph, const Machine& machine,
                     const CostedGraph& costed, const HdpResult& result) {
  PlanRecord record;
  record.plan = {.groups = costed.groups, .placement = result.best->placement, .sequence = result.best->sequence};
  record.graph_name = graph.name();
  record.graph_hash = GraphHash(graph);
  record.machine = machine;
  record.method = "hdp";
  record.seed = r.settings.seed;
  record.proxy_seconds = MakeTimeline(costed, *result.best).makespan;
  record.target_seconds = result.progress.best_seconds;
  return PlanJson(record);
}

}  // namespace

HdpCommand::HdpCommand() : request_(std::make_unique<HdpRequest>()) {
  HdpRequest& r = *request_;
  HdpSettings& s = r.settings;
  app_.name("millrace train hdp");
  app_.add_option("--graph", r.graph, "Graph or model file")->required();
  app_.add_option("--machine", r.machine, "Machine file or preset")->required();
  app_.add_option("--fusion", r.fusion, "Fuse ops first: none or greedy")
      ->check(CLI::IsMember({"none", "greedy"}))
      ->capture_default_str();
  app_.add_option("-o,--output", r.output, "Write the best plan found here")->required();
  app_.add_option("--log", r.log, "Append a JSON line per update to this file");
  app_.add_option("--updates", s.updates, "Updates it may take: deterministic without --time-limit")
      ->check(WholeFrom(1, 1'000'000'000));
  app_.add_option("--time-limit", s.seconds, "Seconds it may take")->check(AboveZero());
  AddSeed(app_, s.seed, "Same seed, same plan");
  AddSettingOptions(app_, TableOf(s));
  app_.add_option("--threads", s.threads, "Threads that evaluate plans")
      ->check(WholeFrom(1, 4096))
      ->capture_default_str();
  app_.add_option("--torch-threads", s.torch_threads, "Threads of libtorch")
      ->check(WholeFrom(1, 4096))
      ->capture_default_str();
  app_.add_flag("--json", r.json, "Print one JSON object on stdout at the end");
  app_.add_flag("-q,--quiet", r.quiet, "Say nothing but errors");
}

HdpCommand::~HdpCommand() = default;

int HdpCommand::Run() const {
  RefuseRanks();
  const HdpRequest& r = *request_;
  const ComputationGraph graph = LoadGraph(r.graph).graph;
  if (graph.num_ops() == 0) throw InvalidInput(r.graph + ": a graph without ops has no plan to learn");
  const Machine machine = LoadMachine(r.machine);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine),
                                             r.fusion == "greedy" ? GreedyFusion(graph) : SingleOpGroups(graph));
  JsonLog log(r.log);
  const bool live = !r.quiet && isatty(STDERR_FILENO) == 1;
  const HdpResult result = TrainHdp(graph, costed, r.settings, [&](const HdpProgress& progress) {
    if (live) fmt::print(stderr, "\rupdate {}: best {:.6g} s   ", progress.updates, progress.best_seconds);
    log.Write(Line(progress));
  });
  if (live) fmt::print(stderr, "\r{:60}\r", "");
  if (!result.best) {
    throw WorkFailed(fmt::format("none of {} plans fits in memory; give it more updates or a larger machine",
                                 result.progress.evaluations));
  }
  WriteFileAtomically(r.output, PlanFile(r, graph, machine, costed, result));
  if (!r.quiet) {
    fmt::print(stderr, "{} updates in {:.1f} s: best of {} plans takes {:.6g} s under contention\n",
               result.progress.updates, result.progress.seconds, result.progress.evaluations,
               result.progress.best_seconds);
  }
  if (r.json) PrintLine(Line(result.progress));
  return 0;
}

}  // namespace millrace::cli
