// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go_methods.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/best_of.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placements.h"
#include "millrace/optimize/sources.h"
#include "millrace/rollout/one_shot_sampler.h"
#include "millrace/search/placement_search.h"
#include "millrace/simulate/contention.h"

namespace millrace {
namespace {

// Every other draw is at this softmax temperature and stays near the likeliest choices; the rest are at 1.
constexpr double kNearTemperature = 0.3;

GoMethod Placed(std::string name, std::function<std::vector<int>(const CostedGraph&)> place) {
  GoMethod method;
  method.name = std::move(name);
  method.plan = [place = std::move(place)](const GoRow& problem, std::uint64_t) -> std::optional<GoPlan> {
    return GoPlan{OwnedByRow(problem.fused), SchedulePlaced(problem.fused, place(problem.fused), {}).assignment};
  };
  return method;
}

std::vector<int> OnOneDevice(const CostedGraph& costed) { return ScheduleSequential(costed).assignment.placement; }

// What a source offers, the best by the proxy that fits; what is nearest to fitting where nothing does.
GoMethod Offered(std::string name, bool seeded, std::shared_ptr<const CandidateSource> source, SourceBudget budget) {
  GoMethod method;
  method.name = std::move(name);
  method.seeded = seeded;
  method.plan = [source = std::move(source), budget](const GoRow& problem,
                                                     std::uint64_t seed) -> std::optional<GoPlan> {
    Random random(seed);
    BestOf best = RunSource(*source, problem.fused, budget, random, 1);
    if (!best.kept.empty()) return GoPlan{OwnedByRow(problem.fused), std::move(best.kept.front().assignment)};
    if (best.nearest.placement.empty()) return std::nullopt;
    return GoPlan{OwnedByRow(problem.fused), std::move(best.nearest)};
  };
  return method;
}

GoMethod Searched(double seconds) {
  GoMethod method;
  method.name = "contended-search";
  method.seeded = true;
  method.plan = [seconds](const GoRow& row, std::uint64_t seed) -> std::optional<GoPlan> {
    PlacementSearchOptions options;
    options.evaluations = std::numeric_limits<std::int64_t>::max();
    options.seconds = seconds;
    Random random(seed);
    std::optional<FoundPlacement> found = SearchPlacement(row.fused, options, random);
    if (!found) return std::nullopt;
    return GoPlan{OwnedByRow(row.fused), std::move(found->assignment)};
  };
  return method;
}

// The likeliest choices first, then draws, half of them near those.
std::vector<GoDecided> Draw(const GoRow& problem, const OneShotPolicy& policy, const GoDraws& options,
                            std::uint64_t seed) {
  const OneShotProblem shown(*problem.model);
  const OneShotDecoder decoder(shown);
  const PreparedOneShot prepared = policy.Prepare(shown, LoopOf(options.threads));
  OneShotOptions draw;
  draw.tasks = options.tasks;
  draw.threads = options.threads;
  const Random random(seed);
  std::vector<GoDecided> drawn;
  for (int i = 0; i < options.draws; ++i) {
    StopIfInterrupted();
    draw.softmax_temperature = i == 0 ? 0 : i % 2 == 1 ? kNearTemperature : 1;
    draw.first = i;
    Decisions decisions = DrawOneShot(shown, prepared, 1, draw, random).front().decisions();
    OneShotPlan plan = decoder.Decode(decisions);
    if (plan.fits) drawn.push_back({std::move(decisions), std::move(plan)});
  }
  return drawn;
}

GoPlan ToGoPlan(OneShotPlan plan) { return {std::move(plan.costed), std::move(plan.assignment)}; }

constexpr double kOutOfMemory = std::numeric_limits<double>::infinity();

// A contended search that begins with the plan.
std::optional<FoundPlacement> SearchFrom(const OneShotPlan& plan, bool keep_order, double seconds, std::uint64_t seed) {
  PlacementSearchOptions search;
  search.evaluations = std::numeric_limits<std::int64_t>::max();
  search.seconds = seconds;
  search.starts = {{plan.assignment.placement, plan.priorities}};
  search.keep_order = keep_order;
  Random random(seed);
  return SearchPlacement(*plan.costed, search, random);
}

}  // namespace

std::shared_ptr<const CostedGraph> OwnedByRow(const CostedGraph& costed) {
  return {std::shared_ptr<const CostedGraph>(), &costed};
}

std::vector<GoMethod> GoBaselines(double search_seconds) {
  SourceBudget once, anneal;
  anneal.seconds = search_seconds;
  return {Placed("single", OnOneDevice),
          Placed("tf-default", PlaceUntilFull),
          Placed("human", PlaceByLayers),
          Placed("metis", PlaceByPartition),
          Offered("expert", false, MakeHeuristic("expert"), once),
          Offered("heft", false, MakeHeuristic("heft"), once),
          Offered("etf", false, MakeHeuristic("etf"), once),
          Offered("anneal", true, MakeSource("anneal"), anneal),
          Searched(search_seconds)};
}

std::optional<GoDecided> BestGoDecisions(const GoRow& row, const OneShotPolicy& policy, const GoDraws& options,
                                         std::uint64_t seed) {
  std::vector<GoDecided> drawn = Draw(row, policy, options, seed);
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const GoDecided& a, const GoDecided& b) { return a.plan.makespan < b.plan.makespan; });
  if (drawn.size() > static_cast<std::size_t>(options.measured))
    drawn.resize(static_cast<std::size_t>(options.measured));
  if (drawn.empty()) return std::nullopt;
  if (drawn.size() == 1) return std::move(drawn.front());
  std::size_t best = 0;
  double least = kOutOfMemory;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const OneShotPlan& plan = drawn[i].plan;
    const double seconds = ContendedSeconds(*plan.costed, plan.assignment).value_or(kOutOfMemory);
    if (seconds >= least) continue;
    least = seconds;
    best = i;
  }
  return std::move(drawn[best]);
}

GoMethod GoOneShot(std::string name, GoPolicyFor policy_for, const GoDraws& options) {
  GoMethod method;
  method.name = std::move(name);
  method.seeded = options.draws > 1;
  method.plan = [policy_for = std::move(policy_for), options](const GoRow& problem,
                                                              std::uint64_t seed) -> std::optional<GoPlan> {
    const auto policy = policy_for(problem, options.tasks, seed);
    std::optional<GoDecided> decided = BestGoDecisions(problem, *policy, options, seed);
    if (!decided) return std::nullopt;
    return ToGoPlan(std::move(decided->plan));
  };
  return method;
}

GoMethod GoSearched(const GoPolicyFor& policy_for, const GoDraws& options, double seconds) {
  GoMethod method;
  method.name = "go+search";
  method.seeded = true;
  method.plan = [policy_for, options, seconds](const GoRow& row, std::uint64_t seed) -> std::optional<GoPlan> {
    const auto begin = std::chrono::steady_clock::now();
    std::optional<GoDecided> decided = BestGoDecisions(row, *policy_for(row, options.tasks, seed), options, seed);
    if (!decided) return std::nullopt;
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::optional<FoundPlacement> found = SearchFrom(decided->plan, false, seconds - spent, seed);
    if (!found) return std::nullopt;
    return GoPlan{decided->plan.costed, std::move(found->assignment)};
  };
  return method;
}

std::vector<GoMethod> GoTaskMethods(const GoPolicyFor& policy_for, const GoDraws& options, double search_seconds) {
  constexpr GoTasks kPlacement = {true, false, false}, kPriority = {false, true, false}, kFusion = {false, false, true};
  struct Variant {
    const char* name;
    std::vector<GoTasks> apart;  // each optimised by itself
  };
  const std::vector<Variant> variants = {{"pl-only", {kPlacement}},
                                         {"pl|sch", {kPlacement, kPriority}},
                                         {"pl+sch", {{true, true, false}}},
                                         {"sch+fu", {{false, true, true}}},
                                         {"pl|sch|fu", {kPlacement, kPriority, kFusion}},
                                         {"pl+sch+fu", {{true, true, true}}}};
  std::vector<GoMethod> methods;
  for (const Variant& variant : variants) {
    GoMethod method;
    method.name = variant.name;
    method.seeded = true;
    method.plan = [policy_for, options, search_seconds, apart = variant.apart](
                      const GoRow& problem, std::uint64_t seed) -> std::optional<GoPlan> {
      const OneShotProblem shown(*problem.model);
      Decisions together;
      for (const GoTasks& tasks : apart) {
        GoDraws own = options;
        own.tasks = tasks;
        std::optional<GoDecided> decided = BestGoDecisions(problem, *policy_for(problem, tasks, seed), own, seed);
        if (!decided) return std::nullopt;
        const bool placed = tasks[static_cast<std::size_t>(Task::kPlacement)];
        if (placed && search_seconds > 0) {
          const bool keep_order = !tasks[static_cast<std::size_t>(Task::kPriority)];
          std::optional<FoundPlacement> found = SearchFrom(decided->plan, keep_order, search_seconds, seed);
          if (!found) return std::nullopt;
          decided->plan.assignment = std::move(found->assignment);
          decided->decisions.device = DevicesByTie(shown, *decided->plan.costed, decided->plan.assignment.placement);
        }
        if (apart.size() == 1) return ToGoPlan(std::move(decided->plan));
        const Decisions& own_decisions = decided->decisions;
        if (!own_decisions.device.empty()) together.device = own_decisions.device;
        if (!own_decisions.priority.empty()) together.priority = own_decisions.priority;
        if (!own_decisions.fusion.empty()) together.fusion = own_decisions.fusion;
      }
      return ToGoPlan(OneShotDecoder(shown).Decode(together));
    };
    methods.push_back(std::move(method));
  }
  return methods;
}

}  // namespace millrace
