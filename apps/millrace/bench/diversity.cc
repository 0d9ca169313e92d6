// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/experiments/quality/tradeoff.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"

// millrace bench diversity: how varied the plans of every method are at equal quality and equal wall time.
namespace millrace::cli {
namespace {

struct DiversityFlags {
  bool quick = false;
  TradeoffOptions tradeoff{.temperatures = {0.005, 0.01, 0.02, 0.04, 0.06}, .families = {"judge"}};
  std::string weights;
  std::string ppo_weights;
  std::string plot;  // file; empty: none
};

void Shorten(const CLI::App& flags, TradeoffOptions& options) {
  if (flags.count("--sizes") == 0) options.ops = {60};
  if (flags.count("--devices") == 0) options.devices = {"4"};
  if (flags.count("--seconds") == 0) options.seconds = 0.1;
}

int RunDiversity(const CommandLine& line, DiversityFlags options) {
  TradeoffOptions& tradeoff = options.tradeoff;
  tradeoff.seed = line.common.seed;
  tradeoff.threads = ThreadsOf(line);
  const PlannerRegistry planners = MakePlannerRegistry({.gflownet_weights = options.weights, .go_weights = {}});
  std::optional<PlannerRegistry> ppo;
  if (!options.ppo_weights.empty())
    ppo = MakePlannerRegistry({.gflownet_weights = options.ppo_weights, .go_weights = {}});
  const std::vector<TradeoffMethod> methods = TradeoffMethods(tradeoff, planners, ppo ? &*ppo : nullptr);
  BenchAccount account(line, tradeoff.threads);
  account.Note(fmt::format(
      "Families: {}. Ops: {}. Devices: {}. CCR: {}. Every method has {:g} s on one thread and keeps its best {} "
      "different plans; makespans are over those of the better HEFT.",
      fmt::join(FamiliesOf(tradeoff.families), ", "), fmt::join(tradeoff.ops, ", "), fmt::join(tradeoff.devices, ", "),
      fmt::join(tradeoff.ccr, ", "), tradeoff.seconds, tradeoff.keep));
  ProgressBar bar(line.common.quiet);
  const TradeoffResult result =
      RunTradeoff(tradeoff, methods, [&bar](int done, int total) { bar.Show("graphs", done, total); });
  bar.Clear();
  if (!options.plot.empty()) WriteFileAtomically(options.plot, TradeoffPlot(result));
  account.Print(TradeoffTables(result));
  return 0;
}

}  // namespace

ExperimentRun AddDiversity(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<DiversityFlags>();
  TradeoffOptions& tradeoff = options->tradeoff;
  AddQuick(flags, options->quick, "60 ops on 4 devices, 0.1 s of every method");
  AddList(flags, "--families", tradeoff.families, "tune, judge, random or names of families")->capture_default_str();
  AddList(flags, "--sizes", tradeoff.ops, "Ops of the graphs")->check(WholeFrom(2, 100'000))->capture_default_str();
  AddList(flags, "--devices", tradeoff.devices, "Machines: N equal devices or N+N unlike ones")
      ->check(CLI::IsMember({"4", "8", "2+2", "4+4"}))
      ->capture_default_str();
  AddList(flags, "--ccr", tradeoff.ccr, "Communication to computation")
      ->check(NumberFrom(0, 1e12))
      ->capture_default_str();
  AddSeconds(flags, "--seconds", tradeoff.seconds, "Wall time of every method for a graph")->capture_default_str();
  flags.add_option("--keep", tradeoff.keep, "Plans that are kept, the best")
      ->check(WholeFrom(2, 5000))
      ->capture_default_str();
  AddWeights(flags, options->weights);
  flags.add_option("--ppo-weights", options->ppo_weights, "Weights trained by PPO, to have ppo among the methods");
  AddTemperatures(flags, "--temperatures", tradeoff.temperatures, "Reward temperatures of the gflownet")
      ->capture_default_str();
  flags.add_option("-o,--output", options->plot, "Also draw it: FILE.svg");
  return [&line, &flags, options] {
    if (options->quick) Shorten(flags, options->tradeoff);
    return RunDiversity(line, *options);
  };
}

}  // namespace millrace::cli
