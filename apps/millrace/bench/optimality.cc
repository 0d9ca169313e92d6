// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/quality/optimality.h"
#include "millrace/experiments/quality/peer_optimum.h"
#include "millrace/experiments/quality/stg_optima.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"
#include "millrace/scratch_folder.h"

// millrace bench optimality: how many small graphs are proved best, and how far planners stay behind.
namespace millrace::cli {
namespace {

struct OptimalityFlags {
  OptimalityOptions options;
  std::string data;
};

int RunOptimality(const CommandLine& line, const OptimalityFlags& flags) {
  OptimalityOptions options = flags.options;
  options.threads = ThreadsOf(line);
  options.seed = line.common.seed;
  BenchAccount account(line, options.threads);
  account.Note(fmt::format("Exact search of {} s on {} threads for each graph; planners that search or draw have {} s.",
                           options.seconds, options.threads, options.planner_seconds));
  ProgressBar bar(line.common.quiet);
  std::vector<Table> tables = OptimalityTables(options, MakePlannerRegistry({.gflownet_weights = {}, .go_weights = {}}),
                                               [&bar](int done, int total) { bar.Show("random graphs", done, total); });
  const auto add = [&](std::vector<Table> more) {
    bar.Clear();
    for (Table& table : more) tables.push_back(std::move(table));
  };
  if (flags.data.empty()) {
    account.Note("Without --data: no Standard Task Graphs.");
  } else {
    add(StgTables(flags.data + "/stg", options, [&bar](int done, int total) { bar.Show("task graphs", done, total); }));
  }
  if (MiniZincIsInstalled()) {
    const ScratchFolder scratch("optimality");
    add(MiniZincTables(scratch.path(), options, [&bar](int done, int total) { bar.Show("minizinc", done, total); }));
  } else {
    account.Note("minizinc is not installed: optima are not held against another solver's.");
  }
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace

ExperimentRun AddOptimality(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<OptimalityFlags>();
  AddQuick(flags, options->options.quick, "40 random graphs, every ninth task graph, 9 problems for minizinc");
  AddSeconds(flags, "--seconds", options->options.seconds, "Of the exact search, for each graph (10)");
  AddSeconds(flags, "--planner-seconds", options->options.planner_seconds,
             "Of each planner that searches or draws, for each graph (1)");
  AddData(flags, options->data, "its stg is proved, too");
  return [&line, options] { return RunOptimality(line, *options); };
}

}  // namespace millrace::cli
