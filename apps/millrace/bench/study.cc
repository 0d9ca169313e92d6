// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench/study.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "command_line/limits.h"
#include "millrace/bench/flags.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/go/go_placement.h"
#include "millrace/go/planner.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"

namespace millrace::cli {
namespace {

constexpr int kGoSeeds = 3;

bool Among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Those that are named, those they have their time from, and the subjects.
std::vector<GoMethod> Chosen(std::vector<GoMethod> methods, const std::vector<std::string>& names,
                             const std::vector<std::string>& subjects) {
  if (names.empty()) return methods;
  std::vector<std::string> wanted = subjects;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(methods.begin(), methods.end(), [&](const GoMethod& method) { return method.name == name; });
    if (found == methods.end()) throw InvalidInput("--methods: '" + name + "' is none of this experiment's");
    wanted.push_back(name);
    wanted.push_back(found->as_long_as);
  }
  std::erase_if(methods, [&](const GoMethod& method) { return !Among(wanted, method.name); });
  return methods;
}

}  // namespace

void AddWorkloadFlags(CLI::App& flags, GoStudyFlags& options) {
  AddQuick(flags, options.quick, "Of the workloads the short forms, one seed");
  AddList(flags, "--workloads", options.workloads, "Only these");
}

void AddDraws(CLI::App& flags, GoStudyFlags& options) {
  flags.add_option("--draws", options.draws, "Plans that go draws")
      ->check(WholeFrom(1, 100'000))
      ->capture_default_str();
}

void AddGoWeights(CLI::App& flags, GoStudyFlags& options) {
  flags.add_option("--go-weights", options.go_weights, "Weights of go; without it the ones that came with Millrace");
}

void AddMethodFlags(CLI::App& flags, GoStudyFlags& options) {
  AddMethods(flags, options.methods);
  AddSeconds(flags, "--seconds", options.seconds, "Seconds of every search, and of sampling by the gflownet")
      ->capture_default_str();
  flags.add_option("--record", options.record,
                   "File that keeps what was found, so that a run that was cut off goes on where it was; files of runs "
                   "of other workloads may be joined to it");
}

std::vector<GoWorkload> GoWorkloadsOf(const GoStudyFlags& options) {
  std::vector<GoWorkload> all = options.quick ? ShortGoWorkloads() : GoWorkloads();
  if (options.workloads.empty()) return all;
  std::vector<GoWorkload> named;
  for (const std::string& name : options.workloads) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const GoWorkload& w) { return w.name == name; });
    if (found == all.end()) throw InvalidInput("there is no workload '" + name + "'; bench go-workloads lists them");
    named.push_back(*found);
  }
  return named;
}

GoStudy BeginGoStudy(const GoStudyFlags& options, BenchAccount& account) {
  GoStudy study;
  study.go_weights = GoWeightsFile(options.go_weights);
  study.planners = MakePlannerRegistry({.gflownet_weights = options.weights, .go_weights = options.go_weights});
  study.seeds = options.quick ? 1 : kGoSeeds;
  account.Note(fmt::format("Target sim:contention, hosts p100xN, {}, seeds: {}. Everything plans on one thread.",
                           options.quick ? "shortened workloads" : "workloads of full size", study.seeds));
  return study;
}

void RunGoStudy(const CommandLine& line, const GoStudyFlags& options, std::vector<GoMethod> methods, int seeds,
                const std::vector<std::string>& subjects, BenchAccount& account) {
  methods = Chosen(std::move(methods), options.methods, subjects);
  GoRecord record;
  if (!options.record.empty()) {
    record = GoRecord(options.record,
                      fmt::format("{} Weights: '{}', '{}'.", account.Notes(), options.weights, options.go_weights));
    account.Note(fmt::format("{} had {} plans when this began; the time is that of what was added.", options.record,
                             record.size()));
  }
  ProgressBar bar(line.common.quiet);
  const GoResult result = RunGo(GoWorkloadsOf(options), methods, seeds, line.common.seed, record,
                                [&bar](int done, int total) { bar.Show("workloads", done, total); });
  bar.Clear();
  account.Print(GoTables(result, subjects));
}

std::vector<GoMethod> GoBaselinesNamed(const GoStudy& study, double seconds, const std::vector<std::string>& names) {
  std::vector<GoMethod> methods = GoBaselines(study.planners, seconds);
  std::erase_if(methods, [&names](const GoMethod& method) { return !Among(names, method.name); });
  return methods;
}

GoPlanned SamplesOf(const GoStudy& study, const std::string& planner, int plans) {
  GoPlanned planned{.name = planner, .planner = PlannerNamed(study.planners, planner)};
  planned.budget.samples = plans;
  return planned;
}

GoPlanned SecondsOf(const GoStudy& study, const std::string& planner, double seconds) {
  GoPlanned planned{.name = planner, .planner = PlannerNamed(study.planners, planner)};
  planned.budget.samples = std::numeric_limits<std::int64_t>::max();
  planned.budget.seconds = seconds;
  return planned;
}

GoPlannerFor GoWith(GoStart policy, GoStart moves, bool draws_alone) {
  return [policy = std::move(policy), moves = std::move(moves), draws_alone](const GoRow& row, std::uint64_t seed) {
    const PlannerFiles files = {
        .gflownet_weights = {}, .go_weights = policy(row, seed), .go_moves_weights = moves(row, seed)};
    PlannerSettings settings;
    if (draws_alone) settings.Set("looks", {0});
    return std::shared_ptr<const Planner>(MakePlannerRegistry(files).Make("go", settings));
  };
}

}  // namespace millrace::cli
