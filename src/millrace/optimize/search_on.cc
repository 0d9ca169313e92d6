// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/search_on.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/heuristics/placed_list.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/parallel.h"
#include "millrace/search/anneal.h"
#include "millrace/search/anneal_fusion.h"
#include "millrace/search/placement_search.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr int kPlacements = 1;  // the thread of the search for placements
constexpr std::int64_t kMostVisitsToDraw = 100'000;

std::optional<RatedAssignment> Planned(const Planner& planner, const PlanningProblem& problem, double seconds,
                                       Random& random) {
  Budget budget;
  budget.samples = std::numeric_limits<std::int64_t>::max();
  budget.seconds = seconds;
  BestOf found = RunPlanner(planner, problem, budget, random, 1);
  if (found.kept.empty()) return std::nullopt;
  return std::move(found.kept.front());
}

std::optional<RatedAssignment> Replaced(const CostedGraph& costed, const Assignment& start, double seconds,
                                        Random& random) {
  PlacementSearchOptions search;
  search.seconds = seconds;
  search.starts = {{start.placement, PrioritiesInOrder(start.sequence), start.sequence}};
  std::optional<FoundPlacement> found = SearchPlacement(costed, search, random);
  if (!found) return std::nullopt;
  const double makespan = Simulator(costed).Makespan(found->assignment);
  return RatedAssignment{std::move(found->assignment), makespan};
}

}  // namespace

std::optional<PoolEntry> SearchOnFrom(const CostModel& model, Pool& pool, const PoolEntry& start,
                                      const SearchOnOptions& options) {
  const CostedGraph& costed = pool.fusions[static_cast<std::size_t>(start.fusion)].costed;
  const bool contended = costed.topology.proxy == Proxy::kContended && !costed.topology.AllTransfersFree();
  const std::unique_ptr<const Planner> annealing = MakeAnnealing();
  // Drawing starts for a graph so large would take most of the time.
  const bool drawn = options.first != nullptr && !contended && costed.Visits() <= kMostVisitsToDraw;
  const bool open = options.open != nullptr && pool.fusions.size() > 1 && TimeToOpenFusion(costed, options.seconds);
  const int searches = std::max(1, options.threads);
  const auto places = [contended](int search) { return contended && search == kPlacements; };
  const auto planner_of = [&](int search) -> const Planner& {
    if (open) return *options.open;
    return search == 0 && drawn ? *options.first : *annealing;
  };
  if (options.begins) options.begins(planner_of(0).name());
  std::vector<std::optional<RatedAssignment>> found(static_cast<std::size_t>(searches));
  RunInParallel(searches, searches, [&](int search) {
    Random random = options.random.Fork(static_cast<std::uint64_t>(search));
    const PlanningProblem problem = planner_of(search).traits().chooses_fusion
                                        ? PlanningProblem(model).WithStart(costed, start.assignment)
                                        : PlanningProblem(model, costed).WithStart(start.assignment);
    found[static_cast<std::size_t>(search)] = places(search)
                                                  ? Replaced(costed, start.assignment, options.seconds, random)
                                                  : Planned(planner_of(search), problem, options.seconds, random);
  });
  std::optional<PoolEntry> best;
  double least = start.proxy_seconds;
  for (int search = 0; search < searches; ++search) {
    std::optional<RatedAssignment>& of = found[static_cast<std::size_t>(search)];
    if (!of || of->makespan >= least) continue;
    least = of->makespan;
    const std::string went_on = places(search) ? "contended-search" : planner_of(search).name();
    const int fusion = of->costed == nullptr ? start.fusion : pool.NumberOf({went_on, *of->costed, false});
    best = PoolEntry{fusion, start.method + "+" + went_on, std::move(of->assignment), least};
  }
  return best;
}

}  // namespace millrace
