// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench/on_cpu.h"

#include <fmt/core.h>

#include <limits>

#include "millrace/bench/built_model.h"
#include "millrace/bench/output.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/summary.h"
#include "millrace/machine/detect.h"
#include "millrace/optimize/optimize.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"
#include "millrace/target/statistics.h"
#include "millrace/workloads/models.h"

namespace millrace::cli {
namespace {

constexpr std::size_t kTopK = 16;

LoadedGraph BuildNetwork(const std::string& name, std::uint64_t seed) {
  ModelOptions options;
  options.seed = seed;
  if (name == "bert_base") options.layers = 2;
  return BuiltModel(name, options);
}

// Medians of the race that all candidates and the baselines run in turn; seconds, NaN where there is none.
struct CpuOutcome {
  double best = std::numeric_limits<double>::quiet_NaN();  // of the method's own plans
  double heft = std::numeric_limits<double>::quiet_NaN();
  Interval heft_over_best{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  std::size_t measured = 0;  // of its own plans
  double seconds = 0;        // that planning and measuring took
};

CpuOutcome Measure(const LoadedGraph& loaded, const Machine& machine, const OptimizeOptions& optimize,
                   const OptimizeProgress& progress) {
  const OptimizeResult result = Optimize(loaded, machine, MakePlannerRegistry(), optimize, progress);
  const Candidate* best = nullptr;
  const Candidate* heft = nullptr;
  CpuOutcome outcome;
  outcome.seconds = result.planning_seconds;
  for (const Candidate& candidate : result.candidates) {
    if (!candidate.target_seconds) continue;
    for (const BaselineResult& baseline : result.baselines) {
      if (baseline.name == "heft" && baseline.candidate.plan == candidate.plan) heft = &candidate;
    }
    if (candidate.method != optimize.methods.front()) continue;
    ++outcome.measured;
    if (best == nullptr || *candidate.target_seconds < *best->target_seconds) best = &candidate;
  }
  if (best != nullptr) outcome.best = *best->target_seconds;
  if (heft != nullptr) outcome.heft = *heft->target_seconds;
  if (best == nullptr || heft == nullptr) return outcome;
  RatioOptions ratio;
  ratio.paired = heft->times.size() == best->times.size();
  outcome.heft_over_best = RatioOfMedians(heft->times, best->times, ratio);
  return outcome;
}

}  // namespace

int RunOnCpu(const CommandLine& line, const OnCpuOptions& options) {
  const std::vector<std::string> methods =
      options.methods.empty() ? std::vector<std::string>{"list",  "heft",   "etf",      "randomised-list",
                                                         "brkga", "anneal", "gflownet", "gflownet-untrained"}
                              : options.methods;
  for (const std::string& method : methods)
    MakePlannerRegistry().Traits(method);  // refuses a name before hours of measuring
  const std::vector<std::string>& networks = options.models.empty() ? InferenceModelNames() : options.models;
  const Machine machine = DetectHost();
  BenchAccount account(line, static_cast<int>(machine.devices.size()));
  account.Note(
      fmt::format("Each method's best {} plans by the proxy, those that differ, run on this CPU in turn with "
                  "each other and with heft's plan; medians.",
                  kTopK));
  Table table{"cpu",
              "Milliseconds; heft / best with its 95 % interval.",
              {"model", "method", "plans measured", "best", "heft", "heft / best", "seconds"},
              {}};
  std::vector<std::vector<double>> ratios(methods.size());
  ProgressBar bar(line.common.quiet);
  for (const std::string& name : networks) {
    const LoadedGraph loaded = BuildNetwork(name, line.common.seed);
    for (std::size_t m = 0; m < methods.size(); ++m) {
      OptimizeOptions optimize;
      optimize.seed = line.common.seed;
      optimize.quick = options.quick;
      optimize.methods = {methods[m]};
      optimize.top_k = kTopK;
      optimize.profile_cache = options.profile_cache;
      const CpuOutcome outcome = Measure(loaded, machine, optimize, [&](OptimizeStep step) {
        const std::string stage = name + ", " + methods[m] + ": " + std::string(step.stage);
        step.stage = stage;
        bar.Show(step);
      });
      const double ratio = outcome.heft / outcome.best;
      if (ratio > 0) ratios[m].push_back(ratio);
      table.rows.push_back({Words(name), Words(methods[m]), Count(outcome.measured), Number(1e3 * outcome.best, 3),
                            Number(1e3 * outcome.heft, 3),
                            Range(ratio, outcome.heft_over_best.low, outcome.heft_over_best.high, 3),
                            Number(outcome.seconds, 1)});
    }
  }
  bar.Clear();
  Table summary{"cpu means", "Geometric mean over networks.", {"method", "networks", "heft / best"}, {}};
  for (std::size_t m = 0; m < methods.size(); ++m)
    summary.rows.push_back({Words(methods[m]), Count(ratios[m].size()), Number(GeometricMean(ratios[m]), 3)});
  account.Print({summary, table});
  return 0;
}

}  // namespace millrace::cli
