// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/annealing_beside.h"

#include <exception>
#include <string>
#include <utility>

#include "millrace/planning/deadline.h"
#include "millrace/planning/problem.h"
#include "millrace/search/anneal.h"
#include "millrace/search/anneal_fusion.h"

namespace millrace {
namespace {

// The second, after what fuses nothing: what is measured to pay, else what goes furthest. HEFT's plans do not tell
// which suits annealing: on Transformer-XL they are faster unfused, and annealing goes much further where there are
// fewer groups.
const FusionOption& FusedAsPays(const std::vector<FusionOption>& fusions) {
  return fusions[fusions.size() > 1 ? 1 : 0];
}

}  // namespace

AnnealingBeside::AnnealingBeside(const CostModel& model, const std::vector<FusionOption>& fusions, double seconds,
                                 Random random) {
  std::promise<std::optional<Found>> promise;
  found_ = promise.get_future();
  thread_ = std::jthread([&model, fusion = FusedAsPays(fusions), several = fusions.size() > 1, seconds, random,
                          promise = std::move(promise)](const std::stop_token& stop) mutable {
    try {
      promise.set_value(Anneal(model, fusion, several, seconds, random, stop));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
}

std::optional<AnnealingBeside::Found> AnnealingBeside::Anneal(const CostModel& model, const FusionOption& fusion,
                                                              bool open, double seconds, Random random,
                                                              const std::stop_token& stop) {
  const Deadline deadline(seconds);
  PoolFusion fused{fusion.name, MakeCostedGraph(model, fusion.groups)};
  AnnealOptions annealing;
  annealing.stop = stop;
  open = open && TimeToOpenFusion(fused.costed, seconds);
  const std::unique_ptr<Planner> planner = open ? MakeAnnealingFusion(annealing) : MakeAnnealing(annealing);
  Budget budget;
  budget.seconds = deadline.Left();
  BestOf found =
      RunPlanner(*planner, open ? PlanningProblem(model) : PlanningProblem(model, fused.costed), budget, random, 1);
  if (found.kept.empty()) return std::nullopt;
  RatedAssignment& best = found.kept.front();
  if (best.costed != nullptr) fused = {planner->name(), *best.costed, false};
  return Found{planner->name(), std::move(fused), std::move(best)};
}

std::optional<PoolEntry> AnnealingBeside::Stop(Pool& pool) {
  thread_.request_stop();
  std::optional<Found> found = found_.get();
  if (!found) return std::nullopt;
  const int fusion = pool.NumberOf(std::move(found->fusion));
  return PoolEntry{fusion, std::move(found->method), std::move(found->best.assignment), found->best.makespan};
}

}  // namespace millrace
