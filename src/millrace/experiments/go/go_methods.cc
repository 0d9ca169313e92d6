// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/go_methods.h"

#include <fmt/core.h>

#include <limits>
#include <string_view>
#include <utility>

#include "millrace/experiments/method.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placements.h"
#include "millrace/memory/run_in_memory.h"
#include "millrace/optimize/optimize.h"
#include "millrace/search/placement_search.h"
#include "millrace/simulate/contention.h"

namespace millrace {
namespace {

constexpr double kOutOfMemory = std::numeric_limits<double>::infinity();

std::string SecondsWords(double seconds) { return fmt::format("{} s", seconds); }

GoMethod PlacedByReadiness(std::string name, std::vector<int> (*place)(const CostedGraph&)) {
  GoMethod method;
  method.name = std::move(name);
  method.plan = [place](const GoRow& row, std::uint64_t, std::optional<double>) -> std::optional<GoPlan> {
    return GoPlan{OwnedByRow(row.fused), SchedulePlaced(row.fused, place(row.fused), {}).assignment};
  };
  return method;
}

std::vector<int> OnOneDevice(const CostedGraph& costed) { return ScheduleSequential(costed).assignment.placement; }

GoPlan PlanOf(const GoRow& row, RatedAssignment rated) {
  return {rated.costed ? std::move(rated.costed) : OwnedByRow(row.fused), std::move(rated.assignment)};
}

double MeasuredSeconds(const GoPlan& plan) {
  return ContendedSeconds(*plan.costed, plan.assignment).value_or(kOutOfMemory);
}

std::optional<GoPlan> BestPlan(const GoPlanned& planned, const GoRow& row, std::uint64_t seed,
                               std::optional<double> seconds) {
  const std::shared_ptr<const Planner> planner = planned.planner(row, seed);
  const PlanningProblem problem =
      planned.fusion == GoFusion::kOpen ? PlanningProblem(*row.model) : PlanningProblem(*row.model, row.fused);
  Budget budget = planned.budget;
  budget.seconds = seconds;
  Random random(seed);
  std::optional<BestOf> best = RunPlannerInMemory(*planner, problem, budget, random, planned.measured);
  if (!best || best->kept.empty()) return std::nullopt;
  GoPlan fastest = PlanOf(row, std::move(best->kept.front()));
  if (best->kept.size() == 1) return fastest;
  double least = MeasuredSeconds(fastest);
  for (std::size_t i = 1; i < best->kept.size(); ++i) {
    GoPlan plan = PlanOf(row, std::move(best->kept[i]));
    const double measured = MeasuredSeconds(plan);
    if (measured >= least) continue;
    least = measured;
    fastest = std::move(plan);
  }
  return fastest;
}

}  // namespace

std::shared_ptr<const CostedGraph> OwnedByRow(const CostedGraph& costed) {
  return {std::shared_ptr<const CostedGraph>(), &costed};
}

GoMethod MakeGoMethod(const GoPlanned& planned) {
  GoMethod method;
  method.name = planned.name;
  method.budget = BudgetWords(planned.budget);
  method.seeded = planned.budget.seconds || planned.budget.samples > 1;
  method.seconds = planned.budget.seconds;
  method.plan = [planned](const GoRow& row, std::uint64_t seed, std::optional<double> seconds) {
    return BestPlan(planned, row, seed, seconds);
  };
  return method;
}

GoPlannerFor PlannerNamed(const PlannerRegistry& planners, const std::string& name) {
  return
      [planner = std::shared_ptr<const Planner>(planners.Make(name))](const GoRow&, std::uint64_t) { return planner; };
}

GoMethod ContendedSearch(std::string name, double seconds) {
  GoMethod method;
  method.name = std::move(name);
  method.budget = SecondsWords(seconds);
  method.seeded = true;
  method.seconds = seconds;
  method.plan = [](const GoRow& row, std::uint64_t seed, std::optional<double> limit) -> std::optional<GoPlan> {
    PlacementSearchOptions options;
    options.seconds = limit;
    Random random(seed);
    std::optional<FoundPlacement> found = SearchPlacement(row.fused, options, random);
    if (!found) return std::nullopt;
    return GoPlan{OwnedByRow(row.fused), std::move(found->assignment)};
  };
  return method;
}

GoMethod AsLongAs(const std::string& other, GoMethod method) {
  method.budget = "that of " + other;
  method.seconds.reset();
  method.as_long_as = other;
  return method;
}

GoMethod Optimized(std::string name, const PlannerRegistry& planners, std::vector<std::string> methods, double seconds,
                   int threads) {
  GoMethod method;
  method.name = std::move(name);
  method.budget = SecondsWords(seconds);
  method.seeded = true;
  method.seconds = seconds;
  method.plan = [&planners, methods = std::move(methods), threads](
                    const GoRow& row, std::uint64_t seed, std::optional<double> limit) -> std::optional<GoPlan> {
    LoadedGraph loaded;
    loaded.graph = row.graph;
    OptimizeOptions options;
    options.target = "sim:contention";
    options.proxy = Proxy::kContended;  // as all planners of these rows have it
    options.methods = methods;
    options.time_limit = limit;
    options.seed = seed;
    options.threads = threads;
    Plan plan = Optimize(loaded, row.machine, planners, options, [](const OptimizeStep&) {}).best.plan;
    GoPlan made;
    made.costed = std::make_shared<const CostedGraph>(MakeCostedGraph(*row.model, std::move(plan.groups)));
    made.assignment = {std::move(plan.placement), std::move(plan.sequence)};
    return made;
  };
  return method;
}

std::vector<GoMethod> GoBaselines(const PlannerRegistry& planners, double search_seconds) {
  std::vector<GoMethod> methods = {PlacedByReadiness("single", OnOneDevice),
                                   PlacedByReadiness("tf-default", PlaceUntilFull)};
  for (const char* name : {"expert", "metis", "heft", "etf"})
    methods.push_back(MakeGoMethod({.name = name, .planner = PlannerNamed(planners, name)}));
  Budget search;
  search.seconds = search_seconds;
  methods.push_back(MakeGoMethod({.name = "anneal", .planner = PlannerNamed(planners, "anneal"), .budget = search}));
  methods.push_back(MakeGoMethod({.name = "anneal+fusion",
                                  .planner = PlannerNamed(planners, "anneal+fusion"),
                                  .budget = search,
                                  .fusion = GoFusion::kOpen}));
  methods.push_back(ContendedSearch("contended-search", search_seconds));
  methods.push_back(Optimized("optimize", planners, {}, search_seconds));
  methods.push_back(Optimized("optimize-2-threads", planners, {}, search_seconds, 2));
  methods.push_back(Optimized("optimize-untrained", planners, UntrainedPoolNames(planners), search_seconds));
  return methods;
}

}  // namespace millrace
