// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/one_method.h"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "millrace/cost/costed_graph.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/memory/run_in_memory.h"
#include "millrace/plan/hash.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/drawn_plans.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/proven_bound.h"

namespace millrace {
namespace {

void CheckLimits(const PlannerTraits& traits, const OneMethodOptions& options) {
  if (options.samples && !traits.takes_samples)
    throw InvalidInput(traits.name + " takes no samples: it makes the same plan however often it is asked");
  if (options.iterations && !traits.takes_iterations)
    throw InvalidInput(traits.name + " takes no iterations: it does not search");
}

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
  return MakeCostedGraph(
      model, options.fusion == GivenFusion::kGreedy ? GreedyFusion(model.graph()) : SingleOpGroups(model.graph()));
}

// Plan and makespan into the record, and what was noted on the way.
void FindPlan(const CostModel& model, const Planner& planner, const OneMethodOptions& options,
              OneMethodResult& result) {
  const std::optional<CostedGraph> given = GivenGroups(model, options, planner.traits());
  const PlanningProblem problem = given ? PlanningProblem(model, *given) : PlanningProblem(model);
  StopIfInterrupted();
  const NotedPlanner noted(planner);
  const Planner& asked = planner.traits().takes_samples ? noted : planner;
  Random random(options.seed);
  std::optional<BestOf> best = RunPlannerInMemory(asked, problem, BudgetOf(options, planner, problem), random, 1);
  if (!best) {
    throw WorkFailed(
        fmt::format("no plan that {} finds fits in the memory of machine '{}'; try another method or a machine with "
                    "more memory_bytes",
                    planner.name(), result.record.machine.name));
  }
  RatedAssignment& rated = best->kept.front();
  const CostedGraph& costed = rated.costed ? *rated.costed : *given;
  result.record.plan = Plan{costed.groups, std::move(rated.assignment.placement), std::move(rated.assignment.sequence)};
  result.record.proxy_seconds = rated.makespan;
  result.lower_bound = LowerBound(costed);
  result.samples = best->offered;
  result.mean_makespan = noted.mean_makespan();
  result.distance = noted.distance();
  result.memory_saving = best->memory_saving;
}

}  // namespace

OneMethodResult PlanByOneMethod(const CostModel& model, const Machine& machine, const Planner& planner,
                                const OneMethodOptions& options) {
  CheckLimits(planner.traits(), options);
  const Deadline clock;
  OneMethodResult result;
  PlanRecord& record = result.record;
  record.machine = machine;
  FindPlan(model, planner, options, result);
  result.fusion_free_bound = FusionFreeBound(model.graph(), machine);
  result.wall_seconds = clock.Elapsed();
  result.proven_bound = ProvenBound(MakeCostedGraph(model, record.plan.groups));
  record.graph_name = model.graph().name();
  record.graph_hash = GraphHash(model.graph());
  record.proxy = model.topology().proxy;
  record.method = planner.name();
  record.seed = options.seed;
  return result;
}

}  // namespace millrace
