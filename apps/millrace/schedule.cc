// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/limits.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/steering.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/optimize/one_method.h"
#include "millrace/optimize/planners.h"
#include "millrace/planning/objective.h"
#include "millrace/report/readable.h"
#include "millrace/simulate/bounds.h"
#include "millrace/steering_flags.h"
#include "millrace/verb.h"

// millrace schedule: one method, judged by the proxy alone.
namespace millrace::cli {
namespace {

struct ScheduleOptions {
  std::string graph;
  std::string machine = "this";
  std::string method = "heft";
  std::optional<Proxy> proxy;
  std::string output;
  std::optional<std::string> fusion;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> iterations;
  std::optional<double> time_limit;
  std::string weights;
  std::map<std::string, std::vector<double>> planner_options;  // by name, those that were given
  std::string objective = "latency";
  SteeringFlags steering;
};

// What a plan has besides its time, for people.
std::string ReadableValue(const Objective& objective, const Candidate& plan) {
  return objective.aim == Objective::Aim::kMemory ? ReadableBytes(*plan.value) + " on the fullest memory"
                                                  : ReadableSeconds(*plan.value) + " from run to run";
}

void AddFront(const Objective& objective, const OneMethodResult& found, nlohmann::ordered_json& json) {
  const char* const name = objective.aim == Objective::Aim::kMemory ? "peak_memory_bytes" : "period_seconds";
  json["objective"] = NameOf(objective.aim);
  json["limit_seconds"] = objective.Limit(found.front.front().proxy_seconds);
  json["front"] = nlohmann::ordered_json::array();
  for (const Candidate& plan : found.front) {
    json["front"].push_back({{"makespan_seconds", plan.proxy_seconds}, {name, *plan.value}});
    if (plan.plan == found.record.plan) json[name] = *plan.value;
  }
}

void PrintFront(const Objective& objective, const OneMethodResult& found) {
  Print("plans that trade latency for {}, of which one may take {}:\n", NameOf(objective.aim),
        ReadableSeconds(objective.Limit(found.front.front().proxy_seconds)));
  for (const Candidate& plan : found.front) {
    Print("  {:>11}  {}{}\n", ReadableSeconds(plan.proxy_seconds), ReadableValue(objective, plan),
          plan.plan == found.record.plan ? "  (this one)" : "");
  }
}

void PrintOutcome(const CommandLine& line, const Objective& objective, const OneMethodResult& found,
                  const std::string& output) {
  const double makespan = found.record.proxy_seconds;
  const double gap = Gap(makespan, found.lower_bound);
  if (line.common.json) {
    nlohmann::ordered_json json = {{"method", found.record.method},
                                   {"proxy", NameOf(found.record.proxy)},
                                   {"makespan_seconds", makespan},
                                   {"lower_bound_seconds", found.lower_bound},
                                   {"samples", found.samples},
                                   {"wall_seconds", found.wall_seconds},
                                   {"gap", gap},
                                   {"proven_bound_seconds", found.proven_bound},
                                   {"proven_gap", Gap(makespan, found.proven_bound)},
                                   {"feasible", true},
                                   {"fusion_free_bound_seconds", found.fusion_free_bound},
                                   {"groups", found.record.plan.groups.size()}};
    if (found.mean_makespan) json["mean_makespan_seconds"] = *found.mean_makespan;
    if (found.distance) json["distance"] = *found.distance;
    if (!found.front.empty()) AddFront(objective, found, json);
    PrintJson(json);
    return;
  }
  Print("{}: makespan {}, at most {} % above the best: no plan of these groups takes less than {}\n",
        found.record.method, ReadableSeconds(makespan), ReadableNumber(100 * Gap(makespan, found.proven_bound), 1),
        ReadableSeconds(found.proven_bound));
  Print("{} groups on {} devices, best of {} in {}\n", found.record.plan.groups.size(),
        found.record.machine.devices.size(), found.samples, ReadableSeconds(found.wall_seconds));
  if (found.mean_makespan && found.distance)
    Print("drawn plans take {} in the mean; two of them differ in {:.0f} % of their chains\n",
          ReadableSeconds(*found.mean_makespan), 100 * *found.distance);
  if (!found.front.empty()) PrintFront(objective, found);
  if (!output.empty()) Print("plan written to {}\n", output);
}

int Schedule(const CommandLine& line, const ScheduleOptions& options) {
  OneMethodOptions planning{.samples = options.samples,
                            .iterations = options.iterations,
                            .time_limit = options.time_limit,
                            .objective = ParseObjective(options.objective),
                            .seed = line.common.seed};
  if (options.fusion) planning.fusion = GivenFusionNamed(*options.fusion);
  const PlannerRegistry planners =
      MakePlannerRegistry({.gflownet_weights = options.weights, .go_weights = options.weights}, ThreadsOf(line.common));
  PlannerSettings settings;
  for (const auto& [name, values] : options.planner_options) settings.Set(name, values);
  const PlannerTraits& traits = planners.Traits(options.method);
  if (!options.weights.empty() && !traits.learned)
    throw InvalidInput(traits.name + " takes no --weights: it has not been trained");
  CheckLimits(traits, planning);
  const std::unique_ptr<Planner> planner = planners.Make(options.method, settings);
  const LoadedGraph loaded = LoadWithWarnings(line, options.graph);
  const Machine machine = LoadMachine(options.machine);
  std::unique_ptr<CostModel> free =
      MakeAnalyticCostModel(loaded.graph, machine, options.proxy.value_or(UsualProxy(machine)));
  Steering steering = SteeringOf(line, options.steering, loaded.graph, machine);
  CheckSteering(*free, machine, steering);
  const std::unique_ptr<CostModel> model = MakeSteeredCostModel(std::move(free), std::move(steering));
  const OneMethodResult found = PlanByOneMethod(*model, machine, *planner, planning);
  StopIfInterrupted();
  if (found.memory_saving && !line.common.quiet) {
    Warn(fmt::format("no plan of {} fits in memory as it is; this one was changed to fit, or made to",
                     found.record.method));
  }
  if (!options.output.empty()) WriteFileAtomically(options.output, PlanJson(found.record));
  PrintOutcome(line, planning.objective, found, options.output);
  return 0;
}

// What `--method M --help` says of M.
std::string HelpOfMethod(const std::string& method) {
  const PlannerRegistry planners = MakePlannerRegistry();
  std::string text = "Methods:\n";
  for (const PlannerEntry& entry : planners.entries())
    text += fmt::format("  {:<30} {}\n", entry.traits.name, entry.traits.meaning);
  const PlannerTraits& traits = planners.Traits(method);
  text += fmt::format("\n{} takes --time-limit", traits.name);
  if (traits.takes_samples) text += fmt::format(", --samples (without it {})", traits.usual_samples);
  if (traits.takes_iterations) text += ", --iterations";
  if (traits.learned) text += ", --weights";
  text += traits.options.empty() ? "\n" : " and\n";
  for (const PlannerOption& option : traits.options)
    text += fmt::format("  --{:<28} {}; {:g} to {:g}, usually {}\n", option.name, option.meaning, option.least,
                        option.most, option.usual);
  return text;
}

// A flag for every option that some planner declares; the registry refuses those of others, and numbers out of the
// range that it has with this planner.
void AddPlannerOptions(CLI::App& verb, const std::shared_ptr<ScheduleOptions>& options) {
  std::map<std::string, std::string> takers;
  std::map<std::string, PlannerOption> declared;
  const PlannerRegistry planners = MakePlannerRegistry();
  for (const PlannerEntry& entry : planners.entries()) {
    for (const PlannerOption& option : entry.traits.options) {
      std::string& names = takers[option.name];
      names += (names.empty() ? "" : ", ") + entry.traits.name;
      declared.emplace(option.name, option);
    }
  }
  for (const auto& [name, option] : declared) {
    verb.add_option_function<std::vector<double>>(
            "--" + name,
            [options, name = name](const std::vector<double>& values) { options->planner_options[name] = values; },
            fmt::format("{} ({})", option.meaning, takers[name]))
        ->check(AnyNumber())
        ->delimiter(',');
  }
}

}  // namespace

void AddSchedule(CommandLine& line) {
  const auto options = std::make_shared<ScheduleOptions>();
  CLI::App* verb = AddVerb(line, "schedule", "Plan a graph with one method, by the cost model alone",
                           [&line, options] { return Schedule(line, *options); });
  verb->add_option("GRAPH", options->graph, "Graph or model file")->required();
  verb->add_option("--machine", options->machine, "Machine file or preset")->capture_default_str();
  verb->add_option("--method", options->method, "Which method, see below")->capture_default_str();
  AddProxyOption(*verb, options->proxy);
  verb->footer([options] { return HelpOfMethod(options->method); });
  verb->add_option("-o,--output", options->output, "Write the plan here");
  verb->add_option(
          "--fusion", options->fusion,
          "Fuse ops first: none (what is done without it, but by methods that choose fusion), greedy, or merged: "
          "greedy groups joined further")
      ->check(CLI::IsMember(GivenFusionNames()));
  verb->add_option("--samples", options->samples,
                   "Plans to draw and choose the best of, by methods that draw; with --time-limit as many as it allows")
      ->check(WholeFrom(1));
  verb->add_option("--weights", options->weights,
                   "Weights of a learned method instead of those that came with Millrace");
  AddPlannerOptions(*verb, options);
  AddObjectiveOption(*verb, options->objective);
  AddSteeringOptions(*verb, options->steering);
  verb->add_option("--iterations", options->iterations, "Steps of a method that searches")->check(WholeFrom(1));
  verb->add_option("--time-limit", options->time_limit,
                   "Seconds that drawing, searching and trying again for memory may take together; a method with one "
                   "answer finishes it")
      ->check(AboveZero());
}

}  // namespace millrace::cli
