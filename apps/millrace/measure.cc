// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/measurement.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "command_line/limits.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/plan_json.h"
#include "millrace/report/readable.h"
#include "millrace/runtime/host_units.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/verb.h"

namespace millrace::cli {
namespace {

struct MeasureVerbOptions {
  std::string model;
  std::string plan;
  std::string target = "cpu";
  int repetitions = 20;
  int warm_up = 2;
};

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

int Measure(const CommandLine& line, const MeasureVerbOptions& options) {
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
  const std::unique_ptr<Target> target = MakeTarget(options.target, context);
  const std::unique_ptr<LoadedPlan> plan = target->Load(record.plan);

  MeasureOptions measure;
  measure.warm_up = options.warm_up;
  measure.repetitions = options.repetitions;
  if (target->name() == "cpu") measure.cpus = UnitsOf(record.machine);
  const Measurement measured = MeasurePlan(*plan, measure);
  if (measured.failed) throw WorkFailed("measuring failed: " + measured.error);
  if (line.common.json) {
    PrintJson({{"median_seconds", measured.median},
               {"min_seconds", measured.min},
               {"p95_seconds", measured.p95},
               {"times", measured.times},
               {"disturbed", measured.disturbed}});
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
  verb->add_option("--target", options->target, "cpu | sim:NAME | cmd[,timeout=SECONDS]:WORDS | cmd-sh:LINE")
      ->capture_default_str();
  verb->add_option("--repetitions", options->repetitions, "Timed runs")
      ->check(WholeFrom(1, 1000000))
      ->capture_default_str();
  verb->add_option("--warm-up", options->warm_up, "Runs before them, not counted")
      ->check(WholeFrom(0, 1000000))
      ->capture_default_str();
}

}  // namespace millrace::cli
