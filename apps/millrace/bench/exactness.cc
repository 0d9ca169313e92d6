// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/quality/exactness.h"
#include "millrace/gflownet/planners.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/report/progress_bar.h"

// millrace bench exactness: a sampler's exact plan probabilities against its reward.
namespace millrace::cli {
namespace {

struct ExactnessFlags {
  bool quick = false;
  std::string weights;               // empty: the ones that came with Millrace
  std::vector<double> temperatures;  // reward temperatures; empty: the experiment's own
  int graphs = 60;
  bool features = false;
};

int RunExactness(const CommandLine& line, const ExactnessFlags& options) {
  const std::string weights = GFlowNetWeightsFile(options.weights);
  const std::unique_ptr<Policy> policy = ReadLearnedPolicy(weights);
  const std::unique_ptr<Policy> untrained = MakeUntrainedPolicy(ReadWeights(weights));
  ExactnessOptions exactness;
  exactness.seed = line.common.seed;
  if (!options.temperatures.empty()) exactness.temperatures = options.temperatures;
  exactness.graphs = options.quick ? 12 : options.graphs;
  exactness.features = options.features;
  if (options.quick) exactness.most_ops = 6;
  BenchAccount account(line, 1);
  account.Note("Weights: " + weights);
  ProgressBar bar(line.common.quiet);
  const std::vector<Table> tables =
      Exactness(*policy, *untrained, exactness, [&bar](int done, int total) { bar.Show("problems", done, total); });
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace

ExperimentRun AddExactness(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<ExactnessFlags>();
  AddQuick(flags, options->quick, "12 graphs of at most 6 ops");
  AddWeights(flags, options->weights);
  AddTemperatures(flags, "--temperatures", options->temperatures, "Reward temperatures to draw at");
  flags.add_option("--graphs", options->graphs, "How many graphs")->check(WholeFrom(1, 5000))->capture_default_str();
  flags.add_flag("--features", options->features, "Also the best that the features of a choice allow: minutes");
  return [&line, options] { return RunExactness(line, *options); };
}

}  // namespace millrace::cli
