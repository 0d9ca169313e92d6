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
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/memory/run_in_memory.h"
#include "millrace/optimize/planners.h"
#include "millrace/optimize/trade_plans.h"
#include "millrace/plan/hash.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/drawn_plans.h"
#include "millrace/planning/objective.h"
#include "millrace/report/readable.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/proven_bound.h"
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

Budget BudgetOf(const ScheduleOptions& options, const Planner& planner, const PlanningProblem& problem) {
  Budget budget;
  budget.iterations = options.iterations;
  budget.seconds = options.time_limit;
  if (options.samples) {
    budget.samples = *options.samples;
  } else if (options.time_limit && planner.traits().takes_samples) {
    budget.samples = std::numeric_limits<std::int64_t>::max();
  } else {
    // Where every plan is dear, fewer.
    budget.samples = planner.traits().chooses_fusion ? planner.SamplesFor(problem, planner.traits().usual_samples)
                                                     : planner.traits().usual_samples;
  }
  return budget;
}

struct Outcome {
  PlanRecord record;
  std::vector<Candidate> front;  // where the objective is not latency: plans that trade one for the other
  double lower_bound = 0;
  double proven_bound = 0;
  double fusion_free_bound = 0;
  std::int64_t samples = 0;
  std::optional<double> mean_makespan;  // of what a planner draws
  std::optional<double> distance;       // the same
  double wall_seconds = 0;
  bool memory_saving = false;
};

[[noreturn]] void RefuseForMemory(const std::string& method, const Machine& machine) {
  throw WorkFailed(
      fmt::format("no plan that {} finds fits in the memory of machine '{}'; try another method or a "
                  "machine with more memory_bytes",
                  method, machine.name));
}

// The groups that plans must have; none where the planner may choose them.
std::optional<CostedGraph> GivenGroups(const CostModel& model, const ScheduleOptions& options,
                                       const PlannerTraits& traits) {
  if (!options.fusion && traits.chooses_fusion) return std::nullopt;
  return MakeCostedGraph(model, options.fusion == "greedy" ? GreedyFusion(model) : UnfusedGroups(model));
}

constexpr std::size_t kPlansToTradeFrom = 64;
constexpr std::uint64_t kTradingStream = 1'000'000'000;

// Half of a time limit is for what is traded for latency.
Budget LatencyBudget(Budget budget, const Objective& objective) {
  if (budget.seconds && objective.aim != Objective::Aim::kLatency) *budget.seconds /= 2;
  return budget;
}

// The planner's plans as a pool, for the stage that trades.
Pool PoolOf(const BestOf& best, const CostedGraph* given, const std::string& method) {
  Pool pool;
  for (const RatedAssignment& rated : best.kept) {
    const CostedGraph& costed = rated.costed ? *rated.costed : *given;
    const auto same = std::find_if(pool.fusions.begin(), pool.fusions.end(), [&costed](const PoolFusion& fusion) {
      return fusion.costed.groups == costed.groups;
    });
    const auto number = static_cast<int>(same - pool.fusions.begin());
    if (same == pool.fusions.end()) pool.fusions.push_back({method, costed, false});
    pool.entries.push_back({number, method, rated.assignment, rated.makespan});
  }
  return pool;
}

// The plan of least value that is fast enough, in place of the fastest.
void Trade(const BestOf& best, const CostedGraph* given, const Objective& objective, const Budget& budget,
           const Random& random, Outcome& outcome) {
  const Pool pool = PoolOf(best, given, outcome.record.method);
  const TradeOptions trade{
      .objective = objective, .iterations = budget.iterations, .seconds = budget.seconds, .random = random};
  outcome.front = TradePlans(pool, trade, [](int, int) {});
  const double fastest = outcome.front.front().proxy_seconds;
  const double limit = objective.Limit(fastest);
  const auto chosen = std::find_if(outcome.front.rbegin(), outcome.front.rend(),
                                   [limit](const Candidate& plan) { return plan.proxy_seconds <= limit; });
  if (chosen == outcome.front.rend()) {
    throw WorkFailed(fmt::format("no plan takes at most {}; the fastest takes {}: allow more with --objective",
                                 ReadableSeconds(limit), ReadableSeconds(fastest)));
  }
  outcome.record.plan = chosen->plan;
  outcome.record.proxy_seconds = chosen->proxy_seconds;
  if (chosen->method != outcome.record.method) outcome.record.method += "+" + chosen->method;
}

Outcome FindPlan(const CostModel& model, const Machine& machine, const ScheduleOptions& options, const Planner& planner,
                 Random random) {
  const Objective objective = ParseObjective(options.objective);
  const bool trades = objective.aim != Objective::Aim::kLatency;
  const std::optional<CostedGraph> given = GivenGroups(model, options, planner.traits());
  const PlanningProblem problem = given ? PlanningProblem(model, *given) : PlanningProblem(model);
  StopIfInterrupted();
  const NotedPlanner noted(planner);
  const Planner& asked = planner.traits().takes_samples ? noted : planner;
  const Budget budget = LatencyBudget(BudgetOf(options, planner, problem), objective);
  const std::optional<BestOf> best = RunPlannerInMemory(asked, problem, budget, random, trades ? kPlansToTradeFrom : 1);
  if (!best) RefuseForMemory(planner.name(), machine);
  const RatedAssignment& rated = best->kept.front();
  const CostedGraph& costed = rated.costed ? *rated.costed : *given;
  Outcome outcome;
  outcome.record.method = options.method;
  outcome.record.plan = Plan{costed.groups, rated.assignment.placement, rated.assignment.sequence};
  outcome.record.proxy_seconds = rated.makespan;
  if (trades && costed.num_groups > 0)
    Trade(*best, given ? &*given : nullptr, objective, budget, random.Fork(kTradingStream), outcome);
  outcome.lower_bound = outcome.record.plan.groups == costed.groups
                            ? LowerBound(costed)
                            : LowerBound(MakeCostedGraph(model, outcome.record.plan.groups));
  outcome.samples = best->offered;
  outcome.mean_makespan = noted.mean_makespan();
  outcome.distance = noted.distance();
  outcome.memory_saving = best->memory_saving;
  return outcome;
}

// What a plan has besides its time, for people.
std::string ReadableValue(const Objective& objective, const Candidate& plan) {
  return objective.aim == Objective::Aim::kMemory ? ReadableBytes(*plan.value) + " on the fullest memory"
                                                  : ReadableSeconds(*plan.value) + " from run to run";
}

void AddFront(const Objective& objective, const Outcome& outcome, nlohmann::ordered_json& json) {
  const char* const name = objective.aim == Objective::Aim::kMemory ? "peak_memory_bytes" : "period_seconds";
  json["objective"] = NameOf(objective.aim);
  json["limit_seconds"] = objective.Limit(outcome.front.front().proxy_seconds);
  json["front"] = nlohmann::ordered_json::array();
  for (const Candidate& plan : outcome.front) {
    json["front"].push_back({{"makespan_seconds", plan.proxy_seconds}, {name, *plan.value}});
    if (plan.plan == outcome.record.plan) json[name] = *plan.value;
  }
}

void PrintFront(const Objective& objective, const Outcome& outcome) {
  Print("plans that trade latency for {}, of which one may take {}:\n", NameOf(objective.aim),
        ReadableSeconds(objective.Limit(outcome.front.front().proxy_seconds)));
  for (const Candidate& plan : outcome.front) {
    Print("  {:>11}  {}{}\n", ReadableSeconds(plan.proxy_seconds), ReadableValue(objective, plan),
          plan.plan == outcome.record.plan ? "  (this one)" : "");
  }
}

void PrintOutcome(const CommandLine& line, const Objective& objective, const Outcome& outcome,
                  const std::string& output) {
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
    if (!outcome.front.empty()) AddFront(objective, outcome, json);
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
  if (!outcome.front.empty()) PrintFront(objective, outcome);
  if (!output.empty()) Print("plan written to {}\n", output);
}

// Refuses limits that the method does not look at.
void CheckBudget(const PlannerTraits& traits, const ScheduleOptions& options) {
  if (options.samples && !traits.takes_samples)
    throw InvalidInput(traits.name + " takes no --samples: it makes the same plan however often it is asked");
  if (options.iterations && !traits.takes_iterations)
    throw InvalidInput(traits.name + " takes no --iterations: it does not search");
  if (!options.weights.empty() && !traits.learned)
    throw InvalidInput(traits.name + " takes no --weights: it has not been trained");
}

int Schedule(const CommandLine& line, const ScheduleOptions& options) {
  const PlannerRegistry planners =
      MakePlannerRegistry({.gflownet_weights = options.weights, .go_weights = options.weights}, ThreadsOf(line.common));
  PlannerSettings settings;
  for (const auto& [name, values] : options.planner_options) settings.Set(name, values);
  CheckBudget(planners.Traits(options.method), options);
  const std::unique_ptr<Planner> planner = planners.Make(options.method, settings);
  const LoadedGraph loaded = LoadWithWarnings(line, options.graph);
  const Machine machine = LoadMachine(options.machine);
  const Deadline clock;
  const Proxy proxy = options.proxy.value_or(UsualProxy(machine));
  std::unique_ptr<CostModel> free = MakeAnalyticCostModel(loaded.graph, machine, proxy);
  Steering steering = SteeringOf(line, options.steering, loaded.graph, machine);
  CheckSteering(*free, machine, steering);
  const std::unique_ptr<CostModel> model = MakeSteeredCostModel(std::move(free), std::move(steering));
  const Random random(line.common.seed);
  Outcome outcome = FindPlan(*model, machine, options, *planner, random);
  outcome.fusion_free_bound = FusionFreeBound(loaded.graph, machine);
  outcome.wall_seconds = clock.Elapsed();
  outcome.proven_bound = ProvenBound(MakeCostedGraph(*model, outcome.record.plan.groups));
  outcome.record.graph_name = loaded.graph.name();
  outcome.record.graph_hash = GraphHash(loaded.graph);
  outcome.record.machine = machine;
  outcome.record.proxy = proxy;
  outcome.record.seed = line.common.seed;
  StopIfInterrupted();
  if (outcome.memory_saving && !line.common.quiet) {
    Warn(fmt::format("no plan of {} fits in memory as it is; this one was changed to fit, or made to",
                     outcome.record.method));
  }
  if (!options.output.empty()) WriteFileAtomically(options.output, PlanJson(outcome.record));
  PrintOutcome(line, ParseObjective(options.objective), outcome, options.output);
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
  verb->add_option("--fusion", options->fusion,
                   "Fuse ops first: none (what is done without it, but by methods that choose fusion) or greedy")
      ->check(CLI::IsMember({"none", "greedy"}));
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
