// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/quality/temperature.h"
#include "millrace/gflownet/planners.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/report/progress_bar.h"

// millrace bench temperature: what the two temperatures do to a sampler's plans.
namespace millrace::cli {
namespace {

struct TemperatureFlags {
  bool quick = false;
  std::string weights;               // empty: the ones that came with Millrace
  std::vector<double> temperatures;  // reward temperatures; empty: the experiment's own
};

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
  const std::vector<Table> tables = TemperatureTables(*policy, *UntrainedGFlowNetPolicy(), temperature,
                                                      [&bar](int done, int total) { bar.Show("graphs", done, total); });
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
  return [&line, options] { return RunTemperature(line, *options); };
}

}  // namespace millrace::cli
