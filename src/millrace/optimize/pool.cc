// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/pool.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "millrace/heuristics/feasible.h"
#include "millrace/heuristics/fusion.h"
#include "millrace/optimize/sources.h"
#include "millrace/search/polish.h"

namespace millrace {
namespace {

// Measured times scatter by a few percent, and a group taken apart for so little loses memory traffic that timing it
// alone does not show: the benefit of the doubt is fusion's.
constexpr double kDoubt = 1.05;

// Is the group no slower fused than apart, on some device?
bool FusingPays(const CostModel& model, const std::vector<OpId>& group) {
  for (int device = 0; device < model.topology().num_devices; ++device) {
    double apart = 0;
    for (const OpId op : group) apart += model.GroupSeconds(std::span(&op, 1), device);
    if (model.GroupSeconds(group, device) <= kDoubt * apart && apart < std::numeric_limits<double>::infinity())
      return true;
  }
  return false;
}

FusionGroups GroupsThatPay(const CostModel& model, const FusionGroups& groups) {
  FusionGroups paying;
  for (const std::vector<OpId>& group : groups) {
    if (FusingPays(model, group)) {
      paying.push_back(group);
    } else {
      for (const OpId op : group) paying.push_back({op});
    }
  }
  return paying;
}

// One generation of BRKGA schedules the graph a hundred times, and needs many to get anywhere: not on such graphs,
// unless asked for.
constexpr std::int64_t kMostBrkgaVisits = 500'000;

// A learned plan costs some thousand times what simulating it does, so large graphs get fewer.
SourceBudget SharedBy(const std::string& method, const CostedGraph& costed, SourceBudget budget) {
  constexpr std::int64_t kVisits = 4'000'000;
  if (!method.starts_with("gflownet")) return budget;
  // One sample would read as "as many as you like".
  constexpr std::int64_t kFewest = 2;
  budget.samples = std::clamp<std::int64_t>(kVisits / std::max<std::int64_t>(1, Visits(costed)), kFewest,
                                            std::max(kFewest, budget.samples));
  return budget;
}

// Each sample of `go` runs a network over all ops, several times.
constexpr std::int64_t kMostOneShotOps = 200'000;
constexpr std::int64_t kFewestOneShot = 4;
constexpr char kPolishedOneShotName[] = "go+polish";
// Each plan that is kept comes with a contracted graph of its own.
constexpr std::int64_t kMostOneShotOpsKept = 400'000;
constexpr std::int64_t kMostOneShotKept = 16;

void AddOneShot(const CostModel& model, const PoolOptions& options, SourceBudget budget, const Random& random,
                Pool& pool) {
  const std::int64_t ops = std::max<std::int64_t>(1, model.graph().num_ops());
  budget.samples =
      std::clamp<std::int64_t>(kMostOneShotOps / ops, kFewestOneShot, std::max(kFewestOneShot, budget.samples));
  const auto most = std::clamp<std::int64_t>(kMostOneShotOpsKept / ops, 2, kMostOneShotKept);
  BestOneShot best = RunOneShot(MakeOneShotSource(options.sources), model, budget, random,
                                std::min(options.keep_per_source, static_cast<std::size_t>(most)));
  pool.proposed += best.offered;
  pool.infeasible += best.overfull;
  for (OneShotPlan& plan : best.kept) {
    const auto same = std::find_if(pool.costed.begin(), pool.costed.end(),
                                   [&plan](const CostedGraph& costed) { return costed.groups == plan.costed->groups; });
    const auto fusion = static_cast<int>(same - pool.costed.begin());
    if (same == pool.costed.end()) {
      pool.fusions.push_back({kOneShotName, plan.costed->groups, true});
      pool.costed.push_back(*plan.costed);
    }
    pool.entries.push_back({fusion, kOneShotName, std::move(plan.assignment), plan.makespan});
  }
  if (best.kept.empty() || !options.methods.empty()) return;
  // The best of them is where a local search begins.
  const PoolEntry start = pool.entries[pool.entries.size() - best.kept.size()];
  const CostedGraph& costed = pool.costed[static_cast<std::size_t>(start.fusion)];
  PolishOptions polish;
  polish.iterations = budget.iterations;
  polish.seconds = budget.seconds;
  Random own = random.Fork(1);
  RatedAssignment polished = Polisher(costed).Polish(start.assignment, polish, own);
  ++pool.proposed;
  if (polished.makespan < start.proxy_seconds)
    pool.entries.push_back({start.fusion, kPolishedOneShotName, std::move(polished.assignment), polished.makespan});
}

}  // namespace

std::vector<FusionChoice> FusionChoices(const CostModel& model) {
  std::vector<FusionChoice> choices;
  const auto add = [&choices](std::string name, FusionGroups groups) {
    const bool known =
        std::any_of(choices.begin(), choices.end(), [&groups](const FusionChoice& c) { return c.groups == groups; });
    if (!known) choices.push_back({std::move(name), std::move(groups)});
  };
  add("none", SingleOpGroups(model.graph()));
  const FusionGroups greedy = GreedyFusion(model.graph());
  if (!model.graph().group_seconds().empty()) add("measured", GroupsThatPay(model, greedy));
  add("greedy", greedy);
  return choices;
}

Pool MakePool(const CostModel& model, std::vector<FusionChoice> fusions, const PoolOptions& options,
              const std::function<void(int, int)>& progress) {
  std::vector<std::string> methods = options.methods.empty() ? UsualSourceNames(options.sources) : options.methods;
  const bool one_shot =
      options.methods.empty() ? HasOneShotWeights(options.sources) : std::erase(methods, kOneShotName) > 0;
  std::erase_if(fusions, [](const FusionChoice& fusion) { return fusion.of_one_plan; });
  const int total = static_cast<int>(methods.size() * fusions.size()) + (one_shot ? 1 : 0);
  const Random random(options.seed);
  SourceBudget budget;
  budget.samples = std::max<std::int64_t>(1, options.samples / static_cast<std::int64_t>(fusions.size()));
  budget.iterations = options.iterations;
  budget.seconds = options.seconds;
  Pool pool;
  int done = 0;
  for (std::size_t f = 0; f < fusions.size(); ++f) {
    pool.costed.push_back(MakeCostedGraph(model, fusions[f].groups));
    const CostedGraph& costed = pool.costed.back();
    for (const std::string& method : methods) {
      if (method == "brkga" && options.methods.empty() && Visits(costed) > kMostBrkgaVisits) {
        progress(++done, total);
        continue;
      }
      Random stream = random.Fork(static_cast<std::uint64_t>(done));
      std::optional<BestOf> best = RunSourceInMemory(*MakeSource(method, options.sources), costed,
                                                     SharedBy(method, costed, budget), stream, options.keep_per_source);
      if (best) {
        pool.proposed += best->offered;
        pool.infeasible += best->overfull;
        for (RatedAssignment& rated : best->kept) {
          pool.entries.push_back({static_cast<int>(f), method, std::move(rated.assignment), rated.makespan});
        }
      }
      progress(++done, total);
    }
  }
  pool.fusions = std::move(fusions);
  if (one_shot) {
    AddOneShot(model, options, budget, random.Fork(static_cast<std::uint64_t>(done)), pool);
    progress(++done, total);
  }
  return pool;
}

std::int64_t Visits(const CostedGraph& costed) {
  return static_cast<std::int64_t>(costed.predecessors.size()) + costed.num_groups;
}

Candidate MakeCandidate(const Pool& pool, const PoolEntry& entry) {
  const auto fusion = static_cast<std::size_t>(entry.fusion);
  Candidate candidate;
  candidate.plan = Plan{pool.costed[fusion].groups, entry.assignment.placement, entry.assignment.sequence};
  candidate.method = entry.method;
  candidate.fusion = pool.fusions[fusion].name;
  candidate.proxy_seconds = entry.proxy_seconds;
  return candidate;
}

}  // namespace millrace
