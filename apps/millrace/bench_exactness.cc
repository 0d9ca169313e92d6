// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/experiments/exactness.h"
#include "millrace/policy/learned_policy.h"
#include "millrace/policy/model_file.h"
#include "millrace/report/progress_bar.h"

// millrace bench exactness: a sampler's exact plan probabilities against its reward.
namespace millrace::cli {

int BenchExactness(const CommandLine& line, const BenchOptions& options) {
  const std::string weights =
      options.sampler.weights.empty() ? FindModelFile("gflownet.safetensors") : options.sampler.weights;
  const std::unique_ptr<Policy> policy = ReadLearnedPolicy(weights);
  ExactnessOptions exactness;
  exactness.seed = line.common.seed;
  if (!options.sampler.temperatures.empty()) exactness.temperatures = options.sampler.temperatures;
  if (options.quick) exactness.most_ops = 6;
  BenchAccount account(line, 1);
  account.Note("Weights: " + weights);
  ProgressBar bar(line.common.quiet);
  const std::vector<Table> tables =
      Exactness(*policy, exactness, [&bar](int done, int total) { bar.Show("problems", done, total); });
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace millrace::cli
