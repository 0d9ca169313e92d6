// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/experiments/quality/search_comparison.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"

// millrace bench search: planners against plain annealing at equal wall time, by family.
namespace millrace::cli {
namespace {

struct SearchFlags {
  bool quick = false;
  SearchGrid grid{.families = {"judge"}};
  std::vector<double> seconds = {1, 10};
  std::vector<std::string> methods;  // empty: all that search
  std::string weights;
};

// What --quick means where a flag does not say otherwise.
void Shorten(const CLI::App& flags, SearchFlags& options) {
  if (flags.count("--sizes") == 0) options.grid.ops = {60, 200};
  if (flags.count("--instances") == 0) options.grid.graphs = 1;
  if (flags.count("--seconds") == 0) options.seconds = {1};
}

int RunSearches(const CommandLine& line, const SearchFlags& options) {
  const PlannerRegistry planners = MakePlannerRegistry({.gflownet_weights = options.weights, .go_weights = {}});
  const std::vector<QualityMethod> methods =
      SearchMethods(options.methods.empty() ? SearchNames(planners) : options.methods, options.seconds, planners);
  const std::vector<QualityInstance> instances = SearchInstances(options.grid);
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  account.Note(
      fmt::format("Families: {}. Ops: {}. Devices: {}. CCR: {}. Graphs of each cell: {}, seeds from {}. Every "
                  "method plans on one thread; methods of an instance run one after the other.",
                  fmt::join(FamiliesOf(options.grid.families), ", "), fmt::join(options.grid.ops, ", "),
                  fmt::join(options.grid.devices, ", "), fmt::join(options.grid.ccr, ", "), options.grid.graphs,
                  instances.front().seed));
  ProgressBar bar(line.common.quiet);
  const QualityResult result = RunQuality(instances, methods, threads, line.common.seed,
                                          [&bar](int done, int total) { bar.Show("graphs", done, total); });
  bar.Clear();
  account.Print(SearchTables(result));
  return 0;
}

}  // namespace

ExperimentRun AddSearch(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<SearchFlags>();
  SearchGrid& grid = options->grid;
  AddQuick(flags, options->quick, "60 and 200 ops, one graph of each cell, 1 second");
  AddList(flags, "--families", grid.families, "tune, judge, random or names of families")->capture_default_str();
  AddList(flags, "--sizes", grid.ops, "Ops of the graphs")->check(WholeFrom(1, 1'000'000))->capture_default_str();
  AddList(flags, "--devices", grid.devices, "Machines: N equal devices or N+N unlike ones")->capture_default_str();
  AddList(flags, "--ccr", grid.ccr, "Communication to computation")->check(NumberFrom(0, 1e12))->capture_default_str();
  flags.add_option("--instances", grid.graphs, "Graphs of each cell")->check(WholeFrom(1, 1000))->capture_default_str();
  AddList(flags, "--seconds", options->seconds, "Wall time of every method")
      ->check(NumberFrom(1e-3, 1e6))
      ->capture_default_str();
  AddMethods(flags, options->methods);
  AddWeights(flags, options->weights);
  return [&line, &flags, options] {
    if (options->quick) Shorten(flags, *options);
    return RunSearches(line, *options);
  };
}

}  // namespace millrace::cli
