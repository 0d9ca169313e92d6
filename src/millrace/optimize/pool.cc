// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/pool.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/memory/run_in_memory.h"
#include "millrace/search/local_search.h"

namespace millrace {
namespace {

// Each plan under groups of its planner's choice comes with a contracted graph of its own.
constexpr std::int64_t kMostOwnOpsKept = 400'000;
constexpr std::int64_t kFewestOwnKept = 2;
constexpr std::int64_t kMostOwnKept = 16;

// A method's own options alone: a pool's settings are for all of its methods.
PlannerSettings SettingsFor(const PlannerTraits& traits, const PlannerSettings& all) {
  PlannerSettings own;
  for (const PlannerOption& option : traits.options) {
    const auto found = all.values().find(option.name);
    if (found != all.values().end()) own.Set(option.name, found->second);
  }
  return own;
}

class PoolMaker {
 public:
  PoolMaker(const CostModel& model, const PlannerRegistry& planners, const PoolOptions& options,
            const std::function<void(int, int)>& progress)
      : model_(model), options_(options), progress_(progress) {
    for (const std::string& name : options.methods.empty() ? planners.PoolNames() : options.methods) {
      const PlannerTraits& traits = planners.Traits(name);
      planners_.push_back(planners.Make(name, SettingsFor(traits, options.settings)));
    }
    budget_.iterations = options.iterations;
    budget_.seconds = options.seconds;
  }

  Pool Make(const std::vector<FusionOption>& fusions) {
    budget_.samples = std::max<std::int64_t>(1, options_.samples / static_cast<std::int64_t>(fusions.size()));
    const auto own = std::count_if(planners_.begin(), planners_.end(),
                                   [](const auto& planner) { return planner->traits().chooses_fusion; });
    total_ =
        static_cast<int>((planners_.size() - static_cast<std::size_t>(own)) * fusions.size()) + static_cast<int>(own);
    for (const FusionOption& fusion : fusions) {
      pool_.fusions.push_back({fusion.name, MakeCostedGraph(model_, fusion.groups)});
      for (const std::unique_ptr<const Planner>& planner : planners_) {
        if (planner->traits().chooses_fusion) continue;
        AskForGivenGroups(*planner);
        progress_(++done_, total_);
      }
    }
    for (const std::unique_ptr<const Planner>& planner : planners_) {
      if (!planner->traits().chooses_fusion) continue;
      AskForOwnGroups(*planner);
      progress_(++done_, total_);
    }
    return std::move(pool_);
  }

 private:
  std::optional<BestOf> Ask(const Planner& planner, const PlanningProblem& problem, std::size_t keep) {
    Budget budget = budget_;
    budget.samples = planner.SamplesFor(problem, budget.samples);
    Random stream = options_.random.Fork(static_cast<std::uint64_t>(done_));
    std::optional<BestOf> best = RunPlannerInMemory(planner, problem, budget, stream, keep);
    if (best) {
      pool_.proposed += best->offered;
      pool_.infeasible += best->overfull;
    }
    return best;
  }

  void AskForGivenGroups(const Planner& planner) {
    const CostedGraph& costed = pool_.fusions.back().costed;
    const bool named = !options_.methods.empty();
    if (!named && costed.Visits() > planner.traits().most_pool_visits) return;
    std::optional<BestOf> best = Ask(planner, PlanningProblem(model_, costed), options_.keep_per_planner);
    if (!best) return;
    const int fusion = static_cast<int>(pool_.fusions.size()) - 1;
    for (RatedAssignment& rated : best->kept)
      pool_.entries.push_back({fusion, planner.name(), std::move(rated.assignment), rated.makespan});
  }

  void AskForOwnGroups(const Planner& planner) {
    const std::int64_t ops = std::max<std::int64_t>(1, model_.graph().num_ops());
    const auto most = std::clamp(kMostOwnOpsKept / ops, kFewestOwnKept, kMostOwnKept);
    std::optional<BestOf> best =
        Ask(planner, PlanningProblem(model_), std::min(options_.keep_per_planner, static_cast<std::size_t>(most)));
    if (!best) return;
    const std::size_t first = pool_.entries.size();
    for (RatedAssignment& rated : best->kept)
      pool_.entries.push_back(
          {FusionOf(planner, *rated.costed), planner.name(), std::move(rated.assignment), rated.makespan});
    if (options_.methods.empty()) SearchFrom(first, planner);
  }

  // The pool's number of these groups.
  int FusionOf(const Planner& planner, const CostedGraph& costed) {
    const auto same = std::find_if(pool_.fusions.begin(), pool_.fusions.end(), [&costed](const PoolFusion& fusion) {
      return fusion.costed.groups == costed.groups;
    });
    const auto number = static_cast<int>(same - pool_.fusions.begin());
    if (same == pool_.fusions.end()) pool_.fusions.push_back({planner.name(), costed, false});
    return number;
  }

  void SearchFrom(std::size_t entry, const Planner& planner) {
    const PoolEntry start = pool_.entries[entry];
    LocalSearchOptions search;
    search.iterations = budget_.iterations;
    search.seconds = budget_.seconds;
    Random stream = options_.random.Fork(static_cast<std::uint64_t>(done_)).Fork(1);
    LocalSearch local_search(pool_.fusions[static_cast<std::size_t>(start.fusion)].costed);
    RatedAssignment found = local_search.Improve(start.assignment, search, stream);
    ++pool_.proposed;
    if (found.makespan < start.proxy_seconds)
      pool_.entries.push_back(
          {start.fusion, planner.name() + "+local-search", std::move(found.assignment), found.makespan});
  }

  const CostModel& model_;
  const PoolOptions& options_;
  const std::function<void(int, int)>& progress_;
  std::vector<std::unique_ptr<const Planner>> planners_;
  Budget budget_;
  Pool pool_;
  int done_ = 0;
  int total_ = 0;
};

}  // namespace

Pool MakePool(const CostModel& model, const PlannerRegistry& planners, const std::vector<FusionOption>& fusions,
              const PoolOptions& options, const std::function<void(int, int)>& progress) {
  return PoolMaker(model, planners, options, progress).Make(fusions);
}

std::vector<FusionOption> OpenFusions(const Pool& pool) {
  std::vector<FusionOption> options;
  for (const PoolFusion& fusion : pool.fusions) {
    if (fusion.open_to_all) options.push_back({fusion.name, fusion.costed.groups});
  }
  return options;
}

Candidate MakeCandidate(const Pool& pool, const PoolEntry& entry) {
  const PoolFusion& fusion = pool.fusions[static_cast<std::size_t>(entry.fusion)];
  Candidate candidate;
  candidate.plan = Plan{fusion.costed.groups, entry.assignment.placement, entry.assignment.sequence};
  candidate.method = entry.method;
  candidate.fusion = fusion.name;
  candidate.proxy_seconds = entry.proxy_seconds;
  return candidate;
}

}  // namespace millrace
