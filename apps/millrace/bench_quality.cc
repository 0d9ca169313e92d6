// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/experiments/quality_methods.h"
#include "millrace/report/progress_bar.h"

// millrace bench quality: every method's plans over a grid of fresh graphs, by the proxy.
namespace millrace::cli {

int BenchQuality(const CommandLine& line, const BenchOptions& options) {
  const std::vector<QualityMethod> methods = MakeQualityMethods(options.methods, options.sampler);
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
  ProgressBar bar(line.common.quiet);
  const QualityResult result = RunQuality(instances, methods, threads, line.common.seed,
                                          [&bar](int done, int total) { bar.Show("graphs", done, total); });
  bar.Clear();
  account.Print(QualityTables(result));
  return 0;
}

}  // namespace millrace::cli
