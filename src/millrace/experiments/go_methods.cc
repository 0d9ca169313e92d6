// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go_methods.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/experiments/method.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placements.h"
#include "millrace/optimize/sources.h"
#include "millrace/rollout/one_shot_plan.h"
#include "millrace/rollout/one_shot_sampler.h"
#include "millrace/search/placement_search.h"

namespace millrace {
namespace {

constexpr std::size_t kMeasured = 16;
constexpr double kLeastDistance = 0.02;
constexpr std::int64_t kMostSamples = 1000;

// Every other draw is at this softmax temperature and stays near the likeliest choices; the rest are at 1.
constexpr double kNearTemperature = 0.3;

// Of a graph that the problem owns.
std::shared_ptr<const CostedGraph> OwnedByProblem(const CostedGraph& costed) {
  return {std::shared_ptr<const CostedGraph>(), &costed};
}

GoMethod Placed(std::string name, std::function<std::vector<int>(const CostedGraph&)> place) {
  GoMethod method;
  method.name = std::move(name);
  method.plan = [place = std::move(place)](const GoRow& problem, std::uint64_t) -> std::optional<GoPlan> {
    return GoPlan{OwnedByProblem(problem.fused), SchedulePlaced(problem.fused, place(problem.fused), {}).assignment};
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
    if (!best.kept.empty()) return GoPlan{OwnedByProblem(problem.fused), std::move(best.kept.front().assignment)};
    if (best.nearest.placement.empty()) return std::nullopt;
    return GoPlan{OwnedByProblem(problem.fused), std::move(best.nearest)};
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
    return GoPlan{OwnedByProblem(row.fused), std::move(found->assignment)};
  };
  return method;
}

struct Drawn {
  Decisions decisions;
  OneShotPlan plan;
};

// The likeliest choices first, then draws, half of them near those.
std::vector<Drawn> Draw(const GoRow& problem, const OneShotPolicy& policy, const GoDraws& options, std::uint64_t seed) {
  const OneShotProblem shown(*problem.model);
  const OneShotDecoder decoder(shown);
  const PreparedOneShot prepared = policy.Prepare(shown, LoopOf(options.threads));
  OneShotOptions draw;
  draw.tasks = options.tasks;
  draw.threads = options.threads;
  const Random random(seed);
  std::vector<Drawn> drawn;
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

}  // namespace

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

GoMethod GoGFlowNet(const SamplerSettings& settings, double seconds) {
  GoMethod method;
  method.name = "gflownet";
  method.seeded = true;
  Method asked;
  asked.name = method.name;
  asked.source = MakeGFlowNetSource(settings);
  asked.budget.samples = kMostSamples;
  asked.budget.seconds = seconds;
  asked.keep = kMeasured;
  asked.least_distance = kLeastDistance;
  method.plan = [asked](const GoRow& problem, std::uint64_t seed) -> std::optional<GoPlan> {
    Random random(seed);
    const Answer answer = Ask(asked, problem.fused, problem.fused, random);
    const Assignment* best = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const RatedAssignment& plan : answer.plans) {
      const std::optional<double> measured = ContendedSeconds(problem.fused, plan.assignment);
      if (!measured || *measured >= least) continue;
      least = *measured;
      best = &plan.assignment;
    }
    if (best == nullptr) return std::nullopt;
    return GoPlan{OwnedByProblem(problem.fused), *best};
  };
  return method;
}

std::optional<Decisions> BestGoDecisions(const GoRow& problem, const OneShotPolicy& policy, const GoDraws& options,
                                         std::uint64_t seed) {
  std::vector<Drawn> drawn = Draw(problem, policy, options, seed);
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const Drawn& a, const Drawn& b) { return a.plan.makespan < b.plan.makespan; });
  if (drawn.size() > static_cast<std::size_t>(options.measured))
    drawn.resize(static_cast<std::size_t>(options.measured));
  if (drawn.empty()) return std::nullopt;
  if (drawn.size() == 1) return std::move(drawn.front().decisions);
  const auto seconds = [](const Drawn& one) {
    return ContendedSeconds(*one.plan.costed, one.plan.assignment).value_or(std::numeric_limits<double>::infinity());
  };
  std::size_t best = 0;
  double least = seconds(drawn[0]);
  for (std::size_t i = 1; i < drawn.size(); ++i) {
    const double own = seconds(drawn[i]);
    if (own < least) {
      least = own;
      best = i;
    }
  }
  return std::move(drawn[best].decisions);
}

GoPlan PlanOf(const GoRow& problem, const Decisions& decisions) {
  const OneShotProblem shown(*problem.model);
  OneShotPlan plan = OneShotDecoder(shown).Decode(decisions);
  return {std::move(plan.costed), std::move(plan.assignment)};
}

GoMethod GoOneShot(std::string name, GoPolicyFor policy_for, const GoDraws& options) {
  GoMethod method;
  method.name = std::move(name);
  method.seeded = options.draws > 1;
  method.plan = [policy_for = std::move(policy_for), options](const GoRow& problem,
                                                              std::uint64_t seed) -> std::optional<GoPlan> {
    const auto policy = policy_for(problem, options.tasks, seed);
    const std::optional<Decisions> decisions = BestGoDecisions(problem, *policy, options, seed);
    if (!decisions) return std::nullopt;
    return PlanOf(problem, *decisions);
  };
  return method;
}

std::vector<GoMethod> GoTaskMethods(const GoPolicyFor& policy_for, const GoDraws& options) {
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
    method.plan = [policy_for, options, apart = variant.apart](const GoRow& problem,
                                                               std::uint64_t seed) -> std::optional<GoPlan> {
      Decisions together;
      for (const GoTasks& tasks : apart) {
        GoDraws own = options;
        own.tasks = tasks;
        const std::optional<Decisions> decided = BestGoDecisions(problem, *policy_for(problem, tasks, seed), own, seed);
        if (!decided) return std::nullopt;
        if (!decided->device.empty()) together.device = decided->device;
        if (!decided->priority.empty()) together.priority = decided->priority;
        if (!decided->fusion.empty()) together.fusion = decided->fusion;
      }
      return PlanOf(problem, together);
    };
    methods.push_back(std::move(method));
  }
  return methods;
}

}  // namespace millrace
