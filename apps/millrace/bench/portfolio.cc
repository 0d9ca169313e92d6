// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/portfolio.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"

// millrace bench portfolio: optimize beside each method of its pool alone, at equal wall time.
namespace millrace::cli {
namespace {

struct PortfolioFlags {
  bool quick = false;
  std::string families = "judge";
  std::string problems = "all";
  PortfolioOptions run;
};

// By PortfolioKinds.
const std::vector<std::string> kKinds = {"all", "tasks", "training"};

PortfolioKinds KindsNamed(const std::string& name) {
  return static_cast<PortfolioKinds>(std::find(kKinds.begin(), kKinds.end(), name) - kKinds.begin());
}

int RunPortfolioBench(const CommandLine& line, const PortfolioFlags& options) {
  PortfolioOptions run = options.run;
  const PlannerRegistry planners = MakePlannerRegistry({}, run.threads);
  if (run.methods.empty()) run.methods = planners.PoolNames();
  run.at_once = std::max(1, ThreadsOf(line) / run.threads);
  run.seed = line.common.seed;
  BenchAccount account(line, run.at_once * run.threads);
  account.Note(fmt::format("Every planning has {} threads; {} problems at once.", run.threads, run.at_once));
  const PortfolioUse use = options.families == "tune" ? PortfolioUse::kTune : PortfolioUse::kJudge;
  const std::vector<PortfolioProblem> problems = PortfolioProblems(use, options.quick, KindsNamed(options.problems));
  account.Note("Families: " + options.families + ".");
  ProgressBar bar(line.common.quiet);
  const PortfolioResult result =
      RunPortfolio(problems, planners, run, [&bar](int done, int total) { bar.Show("problems", done, total); });
  bar.Clear();
  account.Print(PortfolioTables(result));
  return 0;
}

}  // namespace

ExperimentRun AddPortfolio(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<PortfolioFlags>();
  AddQuick(flags, options->quick, "60 ops, three of the training graphs, 1 second");
  flags.add_option("--families", options->families, "judge, or tune: families that choices may be made on")
      ->check(CLI::IsMember({"judge", "tune"}))
      ->capture_default_str();
  flags.add_option("--problems", options->problems, "all, tasks: task graphs, or training: contended training graphs")
      ->check(CLI::IsMember(kKinds))
      ->capture_default_str();
  AddMethods(flags, options->run.methods);
  CLI::Option* seconds = AddSeconds(flags, "--seconds", options->run.seconds, "Wall time of every planning");
  flags.add_option("--plan-threads", options->run.threads, "Threads of every planning; problems share the others")
      ->check(WholeFrom(1, 4096))
      ->capture_default_str();
  flags.add_option("--seeds", options->run.seeds, "Seeds of every planning; from 5 on chance is told from merit")
      ->check(WholeFrom(1, kMostPortfolioSeeds))
      ->capture_default_str();
  return [&line, options, seconds] {
    if (options->quick && seconds->count() == 0) options->run.seconds = 1;
    return RunPortfolioBench(line, *options);
  };
}

}  // namespace millrace::cli
