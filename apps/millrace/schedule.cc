// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/heuristics/feasible.h"
#include "millrace/heuristics/fusion.h"
#include "millrace/optimize/sources.h"
#include "millrace/plan/hash.h"
#include "millrace/simulate/bounds.h"
#include "millrace/verb.h"

// millrace schedule: one method, judged by the proxy alone.
namespace millrace::cli {
namespace {

// What a method that draws samples does where nobody says how many.
constexpr std::int64_t kUsualSamples = 100;
constexpr std::int64_t kUsualOneShotOps = 200'000;  // over all samples
constexpr std::int64_t kFewestOneShot = 4;

struct ScheduleOptions {
  std::string graph;
  std::string machine = "this";
  std::string method = "heft";
  std::string output;
  std::optional<std::string> fusion;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> iterations;
  std::optional<double> time_limit;
  SourceSettings source;
};

SourceBudget BudgetOf(const ScheduleOptions& options, std::int64_t ops) {
  SourceBudget budget;
  budget.iterations = options.iterations;
  budget.seconds = options.time_limit;
  if (options.samples) {
    budget.samples = *options.samples;
  } else if (options.time_limit) {
    budget.samples = std::numeric_limits<std::int64_t>::max();
  } else if (options.method == "randomised-list" || options.method.starts_with("gflownet")) {
    budget.samples = kUsualSamples;
  } else if (options.method == kOneShotName) {
    // Every op costs some hundred thousand multiplications a time.
    budget.samples =
        std::clamp<std::int64_t>(kUsualOneShotOps / std::max<std::int64_t>(1, ops), kFewestOneShot, kUsualSamples);
  }
  return budget;
}

struct Outcome {
  PlanRecord record;
  double lower_bound = 0;
  double fusion_free_bound = 0;
  std::int64_t samples = 0;
  double wall_seconds = 0;
  bool frugal = false;
};

[[noreturn]] void RefuseForMemory(const std::string& method, const Machine& machine) {
  throw WorkFailed(
      fmt::format("no plan that {} finds fits in the memory of machine '{}'; try another method or a "
                  "machine with more memory_bytes",
                  method, machine.name));
}

Outcome FindPlan(const CostModel& model, const Machine& machine, const ScheduleOptions& options,
                 const CandidateSource& source, Random random) {
  FusionGroups groups = options.fusion == "greedy" ? GreedyFusion(model.graph()) : SingleOpGroups(model.graph());
  const CostedGraph costed = MakeCostedGraph(model, std::move(groups));
  StopIfInterrupted();
  std::optional<BestOf> best = RunSourceInMemory(source, costed, BudgetOf(options, costed.num_groups), random, 1);
  if (!best) RefuseForMemory(source.name(), machine);
  Outcome outcome;
  RatedAssignment& rated = best->kept.front();
  outcome.record.plan =
      Plan{costed.groups, std::move(rated.assignment.placement), std::move(rated.assignment.sequence)};
  outcome.record.proxy_seconds = rated.makespan;
  outcome.lower_bound = LowerBound(costed);
  outcome.samples = best->offered;
  outcome.frugal = best->frugal;
  return outcome;
}

Outcome FindOneShotPlan(const CostModel& model, const Machine& machine, const ScheduleOptions& options,
                        const OneShotSource& source, const Random& random) {
  const BestOneShot best = RunOneShot(source, model, BudgetOf(options, model.graph().num_ops()), random, 1);
  if (best.kept.empty()) RefuseForMemory(kOneShotName, machine);
  const OneShotPlan& plan = best.kept.front();
  Outcome outcome;
  outcome.record.plan = plan.plan();
  outcome.record.proxy_seconds = plan.makespan;
  outcome.lower_bound = LowerBound(*plan.costed);
  outcome.samples = best.offered;
  return outcome;
}

void Print(const CommandLine& line, const Outcome& outcome, const std::string& output) {
  const double makespan = outcome.record.proxy_seconds;
  const double gap = Gap(makespan, outcome.lower_bound);
  if (line.common.json) {
    PrintJson({{"method", outcome.record.method},
               {"makespan_seconds", makespan},
               {"lower_bound_seconds", outcome.lower_bound},
               {"samples", outcome.samples},
               {"wall_seconds", outcome.wall_seconds},
               {"gap", gap},
               {"feasible", true},
               {"fusion_free_bound_seconds", outcome.fusion_free_bound},
               {"groups", outcome.record.plan.groups.size()}});
    return;
  }
  fmt::print("{}: makespan {:.6g} s, {:.1f} % above the lower bound of {:.6g} s\n", outcome.record.method, makespan,
             100 * gap, outcome.lower_bound);
  fmt::print("{} groups on {} devices, best of {} in {:.3g} s\n", outcome.record.plan.groups.size(),
             outcome.record.machine.devices.size(), outcome.samples, outcome.wall_seconds);
  if (!output.empty()) fmt::print("plan written to {}\n", output);
}

int Schedule(const CommandLine& line, const ScheduleOptions& options) {
  SourceSettings settings = options.source;
  settings.threads = ThreadsOf(line.common);
  settings.one_shot_weights = settings.weights;
  std::unique_ptr<CandidateSource> source;
  std::optional<OneShotSource> one_shot;
  if (options.method == kOneShotName) {
    if (options.fusion) throw InvalidInput("go chooses the fusion groups itself; leave out --fusion");
    one_shot = MakeOneShotSource(settings);
  } else {
    source = MakeSource(options.method, settings);
  }
  const LoadedGraph loaded = LoadWithWarnings(line, options.graph);
  const Machine machine = LoadMachine(options.machine);
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(loaded.graph, machine);
  const Random random(line.common.seed);
  Outcome outcome = one_shot ? FindOneShotPlan(*model, machine, options, *one_shot, random)
                             : FindPlan(*model, machine, options, *source, random);
  outcome.fusion_free_bound = FusionFreeBound(loaded.graph, machine);
  outcome.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  outcome.record.graph_name = loaded.graph.name();
  outcome.record.graph_hash = GraphHash(loaded.graph);
  outcome.record.machine = machine;
  outcome.record.method = options.method;
  outcome.record.seed = line.common.seed;
  StopIfInterrupted();
  if (outcome.frugal && !line.common.quiet) {
    fmt::print(stderr,
               "millrace: warning: no plan of {} fits in memory as it is; this one was changed to fit, or made to\n",
               outcome.record.method);
  }
  if (!options.output.empty()) WriteFileAtomically(options.output, PlanJson(outcome.record));
  Print(line, outcome, options.output);
  return 0;
}

std::string CheckTimeLimit(const std::string& words) {
  double seconds = 0;
  if (!CLI::detail::lexical_cast(words, seconds) || !std::isfinite(seconds) || seconds <= 0)
    return "'" + words + "' is not a number of seconds > 0";
  return "";
}

std::string CheckTemperature(const std::string& words) {
  double temperature = 0;
  if (!CLI::detail::lexical_cast(words, temperature) || !std::isfinite(temperature) || temperature <= 0)
    return "'" + words + "' is not a temperature > 0";
  return "";
}

}  // namespace

void AddSchedule(CommandLine& line) {
  const auto options = std::make_shared<ScheduleOptions>();
  CLI::App* verb = AddVerb(line, "schedule", "Plan a graph with one method, by the cost model alone",
                           [&line, options] { return Schedule(line, *options); });
  verb->add_option("GRAPH", options->graph, "Graph or model file")->required();
  verb->add_option("--machine", options->machine, "Machine file or preset")->capture_default_str();
  verb->add_option("--method", options->method,
                   fmt::format("One of {}, {}", fmt::join(SourceNames(), ", "), kOneShotName))
      ->capture_default_str();
  verb->add_option("-o,--output", options->output, "Write the plan here");
  verb->add_option("--fusion", options->fusion, "Fuse ops first: none (what is done without it) or greedy")
      ->check(CLI::IsMember({"none", "greedy"}));
  verb->add_option("--samples", options->samples,
                   "Plans to draw and choose the best of, by methods that draw; without it 1, randomised-list and "
                   "gflownet 100, go up to 100 by the size of the graph, and with --time-limit as many as it allows")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  verb->add_option(
          "--temperature", options->source.temperatures,
          "Reward temperature of gflownet, lower for better and less varied plans; several with commas between")
      ->delimiter(',')
      ->check(CLI::Validator(CheckTemperature, "NUMBER"));
  verb->add_option("--weights", options->source.weights,
                   "Weights of gflownet or go instead of those that came with Millrace");
  verb->add_option("--iterations", options->iterations, "Steps of a method that searches")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  verb->add_option("--time-limit", options->time_limit,
                   "Seconds that drawing, searching and trying again for memory may take together; a method with one "
                   "answer finishes it")
      ->check(CLI::Validator(CheckTimeLimit, "SECONDS"));
}

}  // namespace millrace::cli
