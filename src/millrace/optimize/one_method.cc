// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/one_method.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "millrace/cost/costed_graph.h"
#include "millrace/cost/steering.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/fusion/merged_fusion.h"
#include "millrace/memory/run_in_memory.h"
#include "millrace/optimize/trade_plans.h"
#include "millrace/plan/hash.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/drawn_plans.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/proven_bound.h"

namespace millrace {
namespace {

Budget BudgetOf(const OneMethodOptions& options, const Planner& planner, const PlanningProblem& problem) {
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

// The groups that plans must have; none where the planner may choose them.
std::optional<CostedGraph> GivenGroups(const CostModel& model, const OneMethodOptions& options,
                                       const PlannerTraits& traits) {
  if (!options.fusion && traits.chooses_fusion) return std::nullopt;
  switch (options.fusion.value_or(GivenFusion::kNone)) {
    case GivenFusion::kGreedy:
      return MakeCostedGraph(model, GreedyFusion(model));
    case GivenFusion::kMerged:
      return MakeCostedGraph(model, MergedFusion(model));
    case GivenFusion::kNone:
      break;
  }
  return MakeCostedGraph(model, UnfusedGroups(model));
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
           const Random& random, OneMethodResult& result) {
  const Pool pool = PoolOf(best, given, result.record.method);
  const TradeOptions trade{
      .objective = objective, .iterations = budget.iterations, .seconds = budget.seconds, .random = random};
  result.front = TradePlans(pool, trade, [](int, int) {});
  const double fastest = result.front.front().proxy_seconds;
  const double limit = objective.Limit(fastest);
  const auto chosen = std::find_if(result.front.rbegin(), result.front.rend(),
                                   [limit](const Candidate& plan) { return plan.proxy_seconds <= limit; });
  if (chosen == result.front.rend()) {
    throw WorkFailed(fmt::format(
        "no plan takes at most {:.6g} s; the fastest takes {:.6g} s: allow more in the objective", limit, fastest));
  }
  result.record.plan = chosen->plan;
  result.record.proxy_seconds = chosen->proxy_seconds;
  if (chosen->method != result.record.method) result.record.method += "+" + chosen->method;
}

// Plan and makespan into the record, and what was noted on the way.
void FindPlan(const CostModel& model, const Planner& planner, const OneMethodOptions& options,
              OneMethodResult& result) {
  const bool trades = options.objective.aim != Objective::Aim::kLatency;
  const std::optional<CostedGraph> given = GivenGroups(model, options, planner.traits());
  const PlanningProblem problem = given ? PlanningProblem(model, *given) : PlanningProblem(model);
  StopIfInterrupted();
  const NotedPlanner noted(planner);
  const Planner& asked = planner.traits().takes_samples ? noted : planner;
  const Budget budget = LatencyBudget(BudgetOf(options, planner, problem), options.objective);
  Random random(options.seed);
  const std::optional<BestOf> best = RunPlannerInMemory(asked, problem, budget, random, trades ? kPlansToTradeFrom : 1);
  if (!best) {
    throw WorkFailed(
        fmt::format("no plan that {} finds fits in the memory of machine '{}'; try another method or a machine with "
                    "more memory_bytes",
                    planner.name(), result.record.machine.name));
  }
  const RatedAssignment& rated = best->kept.front();
  const CostedGraph& costed = rated.costed ? *rated.costed : *given;
  result.record.plan = Plan{costed.groups, rated.assignment.placement, rated.assignment.sequence};
  result.record.proxy_seconds = rated.makespan;
  if (trades && costed.num_groups > 0)
    Trade(*best, given ? &*given : nullptr, options.objective, budget, random.Fork(kTradingStream), result);
  result.lower_bound = result.record.plan.groups == costed.groups
                           ? LowerBound(costed)
                           : LowerBound(MakeCostedGraph(model, result.record.plan.groups));
  result.samples = best->offered;
  result.mean_makespan = noted.mean_makespan();
  result.distance = noted.distance();
  result.memory_saving = best->memory_saving;
}

}  // namespace

const std::vector<std::string>& GivenFusionNames() {
  static const std::vector<std::string> names = {"none", "greedy", "merged"};
  return names;
}

GivenFusion GivenFusionNamed(std::string_view name) {
  const std::vector<std::string>& names = GivenFusionNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw InvalidInput(fmt::format("fusion: '{}' is none of {}", name, fmt::join(names, ", ")));
  return static_cast<GivenFusion>(found - names.begin());
}

void CheckLimits(const PlannerTraits& traits, const OneMethodOptions& options) {
  if (options.samples && !traits.takes_samples)
    throw InvalidInput(traits.name + " takes no samples: it makes the same plan however often it is asked");
  if (options.iterations && !traits.takes_iterations)
    throw InvalidInput(traits.name + " takes no iterations: it does not search");
}

OneMethodResult PlanByOneMethod(const CostModel& model, const Machine& machine, const Planner& planner,
                                const OneMethodOptions& options) {
  CheckLimits(planner.traits(), options);
  const Deadline clock;
  OneMethodResult result;
  PlanRecord& record = result.record;
  record.machine = machine;
  record.method = planner.name();
  FindPlan(model, planner, options, result);
  result.fusion_free_bound = FusionFreeBound(model.graph(), machine);
  result.wall_seconds = clock.Elapsed();
  result.proven_bound = ProvenBound(MakeCostedGraph(model, record.plan.groups));
  record.graph_name = model.graph().name();
  record.graph_hash = GraphHash(model.graph());
  record.proxy = model.topology().proxy;
  record.seed = options.seed;
  return result;
}

}  // namespace millrace
