// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/experiments/temperature.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/model_file.h"
#include "millrace/report/progress_bar.h"

// millrace bench temperature: what the two temperatures do to a sampler's plans.
namespace millrace::cli {

int BenchTemperature(const CommandLine& line, const BenchOptions& options) {
  const std::string weights =
      options.sampler.weights.empty() ? FindModelFile("gflownet.safetensors") : options.sampler.weights;
  const std::unique_ptr<Policy> policy = MakeMessagePassingPolicy(ReadWeights(weights));
  TemperatureOptions temperature;
  temperature.seed = line.common.seed;
  temperature.threads = ThreadsOf(line);
  if (!options.sampler.temperatures.empty()) temperature.reward = options.sampler.temperatures;
  if (options.quick) temperature.graphs = 3;
  BenchAccount account(line, temperature.threads);
  account.Note("Weights: " + weights);
  ProgressBar bar(line.common.quiet);
  const std::vector<Table> tables =
      TemperatureTables(*policy, temperature, [&bar](int done, int total) { bar.Show("graphs", done, total); });
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace millrace::cli
