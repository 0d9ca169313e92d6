// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line/limits.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/optimize/one_method.h"
#include "millrace/optimize/planners.h"
#include "millrace/planning/deadline.h"
#include "millrace/report/readable.h"
#include "millrace/simulate/bounds.h"
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
  OneMethodOptions planning;
  std::string weights;
  std::map<std::string, std::vector<double>> planner_options;  // by name, those that were given
};

void PrintOutcome(const CommandLine& line, const OneMethodResult& outcome, const std::string& output) {
  const double makespan = outcome.record.proxy_seconds;
  const double gap = Gap(makespan, outcome.lower_bound);
  if (line.common.json) {
    nlohmann::ordered_json json = {{"method", outcome.record.method},
                                   {"proxy", NameOf(outcome.record.proxy)},
                                   {"makespan_seconds", makespan},
                                   {"lower_bound_seconds", outcome.lower_bound},
                                   {"samples", outcome.samples},
                                   {"wall_seconds", outcome.wall_seconds},
                                   {"gap", gap},
                                   {"proven_bound_seconds", outcome.proven_bound},
                                   {"proven_gap", Gap(makespan, outcome.proven_bound)},
                                   {"feasible", true},
                                   {"fusion_free_bound_seconds", outcome.fusion_free_bound},
                                   {"groups", outcome.record.plan.groups.size()}};
    if (outcome.mean_makespan) json["mean_makespan_seconds"] = *outcome.mean_makespan;
    if (outcome.distance) json["distance"] = *outcome.distance;
    PrintJson(json);
    return;
  }
  Print("{}: makespan {}, at most {} % above the best: no plan of these groups takes less than {}\n",
        outcome.record.method, ReadableSeconds(makespan), ReadableNumber(100 * Gap(makespan, outcome.proven_bound), 1),
        ReadableSeconds(outcome.proven_bound));
  Print("{} groups on {} devices, best of {} in {}\n", outcome.record.plan.groups.size(),
        outcome.record.machine.devices.size(), outcome.samples, ReadableSeconds(outcome.wall_seconds));
  if (outcome.mean_makespan && outcome.distance)
    Print("drawn plans take {} in the mean; two of them differ in {:.0f} % of their chains\n",
          ReadableSeconds(*outcome.mean_makespan), 100 * *outcome.distance);
  if (!output.empty()) Print("plan written to {}\n", output);
}

// Refuses what the method does not look at.
void CheckFlags(const PlannerTraits& traits, const ScheduleOptions& options) {
  if (options.planning.samples && !traits.takes_samples)
    throw InvalidInput(traits.name + " takes no --samples: it makes the same plan however often it is asked");
  if (options.planning.iterations && !traits.takes_iterations)
    throw InvalidInput(traits.name + " takes no --iterations: it does not search");
  if (!options.weights.empty() && !traits.learned)
    throw InvalidInput(traits.name + " takes no --weights: it has not been trained");
}

int Schedule(const CommandLine& line, ScheduleOptions options) {
  const PlannerRegistry planners =
      MakePlannerRegistry({.gflownet_weights = options.weights, .go_weights = options.weights}, ThreadsOf(line.common));
  PlannerSettings settings;
  for (const auto& [name, values] : options.planner_options) settings.Set(name, values);
  CheckFlags(planners.Traits(options.method), options);
  const std::unique_ptr<Planner> planner = planners.Make(options.method, settings);
  const LoadedGraph loaded = LoadWithWarnings(line, options.graph);
  const Machine machine = LoadMachine(options.machine);
  options.planning.seed = line.common.seed;
  const Deadline clock;
  const std::unique_ptr<CostModel> model =
      MakeAnalyticCostModel(loaded.graph, machine, options.proxy.value_or(UsualProxy(machine)));
  const double pricing = clock.Elapsed();
  OneMethodResult result = PlanByOneMethod(*model, machine, *planner, options.planning);
  result.wall_seconds += pricing;
  StopIfInterrupted();
  if (result.memory_saving && !line.common.quiet) {
    Warn(fmt::format("no plan of {} fits in memory as it is; this one was changed to fit, or made to",
                     result.record.method));
  }
  if (!options.output.empty()) WriteFileAtomically(options.output, PlanJson(result.record));
  PrintOutcome(line, result, options.output);
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
  verb->add_option_function<std::string>(
          "--fusion",
          [options](const std::string& name) {
            options->planning.fusion = name == "greedy" ? GivenFusion::kGreedy : GivenFusion::kNone;
          },
          "Fuse ops first: none (what is done without it, but by methods that choose fusion) or greedy")
      ->check(CLI::IsMember({"none", "greedy"}));
  verb->add_option("--samples", options->planning.samples,
                   "Plans to draw and choose the best of, by methods that draw; with --time-limit as many as it allows")
      ->check(WholeFrom(1));
  verb->add_option("--weights", options->weights,
                   "Weights of a learned method instead of those that came with Millrace");
  AddPlannerOptions(*verb, options);
  verb->add_option("--iterations", options->planning.iterations, "Steps of a method that searches")
      ->check(WholeFrom(1));
  verb->add_option("--time-limit", options->planning.time_limit,
                   "Seconds that drawing, searching and trying again for memory may take together; a method with one "
                   "answer finishes it")
      ->check(AboveZero());
}

}  // namespace millrace::cli
