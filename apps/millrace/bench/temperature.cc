// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/quality/temperature.h"
#include "millrace/experiments/quality/temperature_promise.h"
#include "millrace/gflownet/planners.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"

// millrace bench temperature: what the two temperatures do to a sampler's plans.
namespace millrace::cli {
namespace {

struct TemperatureFlags {
  bool quick = false;
  std::string weights;               // empty: the ones that came with Millrace
  std::vector<double> temperatures;  // reward temperatures; empty: the experiment's own
  bool promise = false;              // nothing but the promise
  std::vector<std::string> families = {"judge", "random"};
  std::int64_t samples = 0;  // of the promise; 0: the usual number
};

const std::vector<double> kPromised = {0.01, 0.02, 0.04, 0.06};

int RunTemperature(const CommandLine& line, const TemperatureFlags& options) {
  const std::string weights = GFlowNetWeightsFile(options.weights);
  const std::unique_ptr<Policy> policy = ReadLearnedPolicy(weights);
  TemperatureOptions temperature;
  temperature.seed = line.common.seed;
  temperature.threads = ThreadsOf(line);
  if (!options.temperatures.empty()) temperature.reward = options.temperatures;
  if (options.quick) temperature.graphs = 3;
  BenchAccount account(line, temperature.threads);
  account.Note("Weights: " + weights);
  ProgressBar bar(line.common.quiet);
  const auto show = [&bar](int done, int total) { bar.Show("graphs", done, total); };
  std::vector<Table> tables;
  if (!options.promise) tables = TemperatureTables(*policy, *UntrainedGFlowNetPolicy(), temperature, show);
  PromiseOptions promise;
  promise.temperatures = options.temperatures.empty() ? kPromised : options.temperatures;
  promise.families = options.families;
  if (options.quick) promise.samples = 50;
  if (options.samples > 0) promise.samples = options.samples;
  promise.seed = line.common.seed;
  promise.threads = temperature.threads;
  const PlannerRegistry planners = MakePlannerRegistry({.gflownet_weights = options.weights, .go_weights = {}});
  for (Table& table : PromiseTables(TestPromise(promise, planners, show))) tables.push_back(std::move(table));
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace

ExperimentRun AddTemperature(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<TemperatureFlags>();
  AddQuick(flags, options->quick, "3 graphs of each setting");
  AddWeights(flags, options->weights);
  AddTemperatures(flags, "--temperatures", options->temperatures, "Reward temperatures to draw at");
  flags.add_flag("--promise", options->promise,
                 "Only whether plans are longer and differ more at every higher temperature");
  AddList(flags, "--families", options->families, "Graphs of the promise: tune, judge, random or names of families")
      ->capture_default_str();
  flags
      .add_option("--samples", options->samples,
                  "Plans of each graph at each temperature, for the promise; usually 200")
      ->check(WholeFrom(2, 100'000));
  return [&line, options] { return RunTemperature(line, *options); };
}

}  // namespace millrace::cli
