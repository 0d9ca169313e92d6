// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/built_model.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/targets/engine_comparison.h"
#include "millrace/machine/detect.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"
#include "millrace/workloads/models.h"

// millrace bench engines: engines that run here, by themselves and under plans, side by side.
namespace millrace::cli {
namespace {

struct EnginesFlags {
  bool quick = false;
  bool quantized = false;
  std::vector<std::string> models;
  EngineComparisonOptions comparison;
  double planning_seconds = 60;
};

int RunEngines(const CommandLine& line, EnginesFlags options) {
  options.comparison.seed = line.common.seed;
  if (!options.quick) options.comparison.planning_seconds = options.planning_seconds;
  const Machine machine = DetectHost();
  BenchAccount account(line, ThreadsOf(line));
  if (options.quantized) account.Note("Models on 8-bit integers, weights of seven bits.");
  ProgressBar bar(line.common.quiet);
  const PlannerRegistry planners = MakePlannerRegistry({}, ThreadsOf(line));
  std::vector<EngineComparison> comparisons;
  for (const std::string& name : options.models.empty() ? InferenceModelNames() : options.models) {
    ModelOptions model;
    model.seed = line.common.seed;
    const LoadedGraph loaded = BuiltModel(name, model, options.quantized ? NumberForm::kQuantized : NumberForm::kFloat);
    const auto progress = [&](std::string_view what) { bar.Show(name + ", " + std::string(what), 0, 0); };
    comparisons.push_back(CompareEngines(name, loaded, machine, planners, options.comparison, progress));
  }
  bar.Clear();
  account.Print(EngineTables(comparisons));
  return 0;
}

}  // namespace

ExperimentRun AddEngines(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<EnginesFlags>();
  AddQuick(flags, options->quick, "Plans as optimize --quick makes them");
  flags.add_flag("--quantized", options->quantized, "The models on 8-bit integers, as quantisation tools write them");
  AddList(flags, "--models", options->models, "Model families of ours; without it all that are run");
  AddList(flags, "--engines", options->comparison.engines,
          "Targets that run models here; the first one's best way without a plan is what all are held against")
      ->capture_default_str();
  AddSeconds(flags, "--planning-seconds", options->planning_seconds, "For each model and engine");
  AddSeconds(flags, "--seconds", options->comparison.seconds, "Of running all ways of a model in turn");
  flags.add_option("--profile-cache", options->comparison.profile_cache, "File that keeps op times between runs");
  return [&line, options] { return RunEngines(line, *options); };
}

}  // namespace millrace::cli
