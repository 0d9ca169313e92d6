// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/experiments/quality/quality_methods.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/gflownet/planners.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"
#include "millrace/scratch_folder.h"
#include "millrace/trainer_program.h"

// millrace bench quality: every method's plans over a grid of fresh graphs, by the proxy.
namespace millrace::cli {
namespace {

struct QualityFlags {
  bool quick = false;
  std::vector<std::string> families = {"random"};
  std::vector<std::string> methods;  // empty: all
  std::string record;                // file of what was found so far
  std::string weights;               // of the gflownet; empty: the ones that came with Millrace
  double finetune = 0;               // seconds for each graph of the quick grid; 0: without that method
};

// The gflownet fitted to each instance, in a folder of its own.
std::vector<QualityMethod> FinetunedMethods(const QualityFlags& options, const PlannerRegistry& planners,
                                            const std::string& folder) {
  return MakeFinetunedMethods(
      planners, [options, folder](const QualityInstance& instance) -> std::shared_ptr<const Planner> {
        FinetuneRequest request;
        request.seconds = options.finetune;
        request.weights = GFlowNetWeightsFile(options.weights);
        request.folder = fmt::format("{}/{}", folder, instance.seed);
        request.seed = instance.seed;
        const std::string tuned = Finetune(MakeQualityGraph(instance), MakeQualityMachine(instance), request);
        return MakePlannerRegistry({.gflownet_weights = tuned, .go_weights = {}}).Make("gflownet");
      });
}

// All that the plans of a graph depend on beside the program. Weights by content: a training may have replaced the
// file.
std::string SettingsOf(const CommandLine& line, const QualityFlags& options,
                       const std::vector<QualityMethod>& methods) {
  std::vector<std::string> names;
  names.reserve(methods.size());
  for (const QualityMethod& method : methods) names.push_back(method.method.name);
  const std::string weights = ReadWholeFile(GFlowNetWeightsFile(options.weights));
  return fmt::format("seed {}; weights {:016x}; finetune {} s; families {}; {}", line.common.seed,
                     std::hash<std::string>()(weights), options.finetune, fmt::join(options.families, ", "),
                     fmt::join(names, ", "));
}

int RunQualityGrid(const CommandLine& line, const QualityFlags& options) {
  const std::vector<std::string> families = FamiliesOf(options.families);
  const PlannerRegistry planners = MakePlannerRegistry({.gflownet_weights = options.weights, .go_weights = {}});
  std::vector<QualityMethod> methods = MakeQualityMethods(options.methods, planners);
  const ScratchFolder scratch("quality");
  if (options.finetune > 0) {
    for (QualityMethod& method : FinetunedMethods(options, planners, scratch.path()))
      methods.push_back(std::move(method));
  }
  std::vector<QualityInstance> instances = QualityGridOf(families);
  if (options.quick) instances = QuickPartOf(instances);
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  account.Note(
      fmt::format("{} graphs that no training uses, their seeds from {}. Best of 64 samples where a method "
                  "draws; times are wall time on one core.",
                  instances.size(), kQualitySeed));
  account.Note(fmt::format("Families: {}.", fmt::join(families, ", ")));
  account.Note(fmt::format("Weights: {}.", options.weights.empty() ? "as shipped" : options.weights));
  std::optional<QualityRecord> record;
  if (!options.record.empty()) {
    record.emplace(options.record, SettingsOf(line, options, methods), methods.size());
    account.Note(fmt::format("{} had {} graphs when this began; the time is that of what was added.", options.record,
                             record->Size()));
  }
  ProgressBar bar(line.common.quiet);
  const QualityResult result = RunQuality(
      instances, methods, threads, line.common.seed, [&bar](int done, int total) { bar.Show("graphs", done, total); },
      record ? &*record : nullptr);
  bar.Clear();
  account.Print(QualityTables(result));
  return 0;
}

}  // namespace

ExperimentRun AddQuality(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<QualityFlags>();
  AddQuick(flags, options->quick, "36 of the 360 graphs");
  AddList(flags, "--families", options->families, "tune, judge, random or names of families")->capture_default_str();
  AddMethods(flags, options->methods);
  flags.add_option("--record", options->record,
                   "File that keeps what was found, so that a run that was cut off goes on where it was");
  AddWeights(flags, options->weights);
  AddSeconds(flags, "--finetune", options->finetune,
             "Also the gflownet fine-tuned to each graph of the quick grid for so many seconds, and searches for as "
             "long as that takes");
  return [&line, options] { return RunQualityGrid(line, *options); };
}

}  // namespace millrace::cli
