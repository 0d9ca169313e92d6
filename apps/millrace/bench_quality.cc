// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/experiments/quality_methods.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/optimize/sources.h"
#include "millrace/report/progress_bar.h"
#include "millrace/scratch_folder.h"
#include "millrace/trainer_program.h"

// millrace bench quality: every method's plans over a grid of fresh graphs, by the proxy.
namespace millrace::cli {
namespace {

constexpr std::int64_t kDraws = 64;

// One for each instance, in a folder of its own.
QualityMethod FinetunedMethod(const BenchOptions& options, const std::string& folder) {
  QualityMethod method;
  method.method.name = "gflownet-finetuned";
  method.method.budget.samples = kDraws;
  method.rival = "gflownet";
  method.scope = QualityScope::kQuickGrid;
  method.adapt = [options, folder](const QualityInstance& instance) {
    FinetuneRequest request;
    request.seconds = options.finetune;
    request.weights = WeightsOf({options.sampler.weights, {}, 1});
    request.folder = fmt::format("{}/{}", folder, instance.seed);
    request.seed = instance.seed;
    SamplerSettings tuned = options.sampler;
    tuned.weights = Finetune(MakeQualityGraph(instance), MakeQualityMachine(instance), request);
    return MakeGFlowNetSource(tuned);
  };
  return method;
}

// All that the plans of a graph depend on beside the program. Weights by content: a training may have replaced the
// file.
std::string SettingsOf(const CommandLine& line, const BenchOptions& options,
                       const std::vector<QualityMethod>& methods) {
  std::vector<std::string> names;
  names.reserve(methods.size());
  for (const QualityMethod& method : methods) names.push_back(method.method.name);
  const std::string weights = ReadWholeFile(WeightsOf({options.sampler.weights, {}, 1}));
  return fmt::format(
      "seed {}; weights {:016x}; temperatures {}; sample share {}; polish temperature {}; finetune {} s; {}",
      line.common.seed, std::hash<std::string>()(weights), fmt::join(options.sampler.temperatures, " "),
      options.sampler.sample_share, options.sampler.polish_temperature, options.finetune, fmt::join(names, ", "));
}

}  // namespace

int BenchQuality(const CommandLine& line, const BenchOptions& options) {
  std::vector<QualityMethod> methods = MakeQualityMethods(options.methods, options.sampler);
  const ScratchFolder scratch("quality");
  if (options.finetune > 0) methods.push_back(FinetunedMethod(options, scratch.path()));
  const std::vector<QualityInstance> instances = options.quick ? QuickQualityGrid() : QualityGrid();
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  account.Note(
      fmt::format("{} graphs that no training uses, their seeds from {}. Best of 64 samples where a method "
                  "draws; times are wall time on one core.",
                  instances.size(), kQualitySeed));
  account.Note(fmt::format("Weights: {}; share of time for samples {}, first temperature of the search {}.",
                           options.sampler.weights.empty() ? "as shipped" : options.sampler.weights,
                           options.sampler.sample_share, options.sampler.polish_temperature));
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

}  // namespace millrace::cli
