// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "command_line/limits.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/plan_json.h"
#include "millrace/rank_session.h"
#include "millrace/report/readable.h"
#include "millrace/report/trace.h"
#include "millrace/runtime/host_units.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/target/measured_timeline.h"
#include "millrace/verb.h"

namespace millrace::cli {
namespace {

struct MeasureVerbOptions {
  std::string model;
  std::string plan;
  std::string target = "cpu";
  std::string trace;  // file for the measured timeline; empty: none
  int repetitions = 20;
  int warm_up = 2;
};

constexpr int kMostTimedRuns = 9;

void RefuseIfOverMemory(const std::string& path, const CostModel& cost, const Plan& plan) {
  const CostedGraph costed = MakeCostedGraph(cost, plan.groups);
  if (!costed.limited_memory) return;
  const Assignment assignment{plan.placement, plan.sequence};
  const std::vector<double> peaks = PeakMemory(costed, assignment, MakeTimeline(costed, assignment));
  for (std::size_t memory = 0; memory < peaks.size(); ++memory) {
    if (peaks[memory] <= costed.topology.memory_bytes[memory]) continue;
    throw InvalidInput(fmt::format("{}: needs {} on memory {}, which holds {}; it is not measured", path,
                                   ReadableBytes(peaks[memory]), memory,
                                   ReadableBytes(costed.topology.memory_bytes[memory])));
  }
}

nlohmann::ordered_json TimelineJson(const Plan& plan, const std::optional<MeasuredTimeline>& measured) {
  if (!measured) return nullptr;
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    groups.push_back({{"start", measured->run.start[group]},
                      {"finish", measured->run.finish[group]},
                      {"median_seconds", measured->group_seconds[group]},
                      {"device", plan.placement[group]}});
  }
  return {{"run_seconds", measured->run_seconds}, {"runs", measured->runs}, {"groups", std::move(groups)}};
}

void WriteTrace(const std::string& path, const ComputationGraph& graph, const PlanRecord& record,
                const Timeline& measured) {
  Candidate candidate;
  candidate.plan = record.plan;
  candidate.method = record.method;
  const PlanAccount predicted = AccountOf("plan", candidate, graph, record.machine, record.proxy);
  const PlanAccount account = AsMeasured(graph, predicted, measured);
  WriteFileAtomically(path, TraceJson(graph, record.machine, std::span(&account, 1)));
}

int Measure(const CommandLine& line, const MeasureVerbOptions& options) {
  RankSession ranks(options.target);
  if (ranks.follows()) return ranks.Follow(line, options.model);
  const LoadedGraph loaded = LoadWithWarnings(line, options.model);
  const PlanRecord record = LoadPlan(options.plan, loaded.graph, {.dimensions = line.common.dimensions});
  const auto cost = MakeAnalyticCostModel(loaded.graph, record.machine);
  RefuseIfOverMemory(options.plan, *cost, record.plan);

  TargetContext context;
  context.graph = &loaded.graph;
  context.machine = &record.machine;
  context.cost = cost.get();
  context.model = loaded.model ? &*loaded.model : nullptr;
  context.seed = line.common.seed;
  context.ranks = ranks.Lead(line, options.model, loaded);
  const std::unique_ptr<Target> target = MakeTarget(options.target, context);
  const std::unique_ptr<LoadedPlan> plan = target->Load(record.plan);

  MeasureOptions measure;
  measure.warm_up = options.warm_up;
  measure.repetitions = options.repetitions;
  if (target->runs_on_our_units()) measure.cpus = UnitsOf(record.machine);
  const Measurement measured = MeasurePlan(*plan, measure);
  if (measured.failed) throw WorkFailed("measuring failed: " + measured.error);
  std::optional<MeasuredTimeline> timeline;
  if (line.common.json || !options.trace.empty())
    timeline = MeasureTimeline(*plan, std::min(options.repetitions, kMostTimedRuns));
  if (!options.trace.empty()) {
    if (!timeline) throw InvalidInput("target " + target->name() + " does not tell when groups ran; leave --trace out");
    WriteTrace(options.trace, loaded.graph, record, timeline->run);
  }
  if (line.common.json) {
    PrintJson({{"median_seconds", measured.median},
               {"min_seconds", measured.min},
               {"p95_seconds", measured.p95},
               {"times", measured.times},
               {"disturbed", measured.disturbed},
               {"timeline", TimelineJson(record.plan, timeline)}});
  } else {
    Print("median {}, min {}, p95 {} over {} runs on {}{}\n", ReadableSeconds(measured.median),
          ReadableSeconds(measured.min), ReadableSeconds(measured.p95), measured.times.size(), target->name(),
          measured.disturbed ? " (disturbed: others used our processors)" : "");
  }
  return 0;
}

}  // namespace

void AddMeasure(CommandLine& line) {
  auto options = std::make_shared<MeasureVerbOptions>();
  CLI::App* verb =
      AddVerb(line, "measure", "Run a plan for time", [&line, options] { return Measure(line, *options); });
  verb->add_option("MODEL", options->model, "ONNX file, or a graph with a sim: or cmd: target")->required();
  verb->add_option("--plan", options->plan, "Plan to measure")->required();
  verb->add_option("--target", options->target,
                   "cpu | ort[,library=PATH] | sim:NAME | cmd[,timeout=SECONDS]:WORDS | cmd-sh:LINE | mpi[,emulate]")
      ->capture_default_str();
  verb->add_option(
      "--trace", options->trace,
      "Also write when each group ran, in a run of the middle time, to this file, which opens in Perfetto");
  verb->add_option("--repetitions", options->repetitions, "Timed runs")
      ->check(WholeFrom(1, 1000000))
      ->capture_default_str();
  verb->add_option("--warm-up", options->warm_up, "Runs before them, not counted")
      ->check(WholeFrom(0, 1000000))
      ->capture_default_str();
}

}  // namespace millrace::cli
