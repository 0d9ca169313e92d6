// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/contended_plans.h"

#include <algorithm>
#include <span>
#include <utility>

#include "millrace/heuristics/placed_list.h"
#include "millrace/planning/deadline.h"
#include "millrace/search/placement_search.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// Plans of the pool where a search begins, beside the placements that it knows.
constexpr std::size_t kMostStarts = 4;

// Starts and their two orders take about this many tries.
constexpr std::int64_t kFewestTries = 30;

// The fastest of the planners that chose their groups; nothing where there is none.
const PoolEntry* FastestOfOwnGroups(const Pool& pool, const PlannerRegistry& planners) {
  const PoolEntry* best = nullptr;
  for (const PoolEntry& entry : pool.entries) {
    if (!planners.ChoosesFusion(entry.method)) continue;
    if (best == nullptr || entry.proxy_seconds < best->proxy_seconds) best = &entry;
  }
  return best;
}

// The fastest plan that each planner made for these groups, best first.
std::vector<PlacementStart> FastestOf(const Pool& pool, int fusion) {
  std::vector<const PoolEntry*> fastest;
  for (const PoolEntry& entry : pool.entries) {
    if (entry.fusion != fusion) continue;
    const auto same = std::find_if(fastest.begin(), fastest.end(),
                                   [&entry](const PoolEntry* other) { return other->method == entry.method; });
    if (same == fastest.end()) {
      fastest.push_back(&entry);
    } else if (entry.proxy_seconds < (*same)->proxy_seconds) {
      *same = &entry;
    }
  }
  std::stable_sort(fastest.begin(), fastest.end(),
                   [](const PoolEntry* a, const PoolEntry* b) { return a->proxy_seconds < b->proxy_seconds; });
  fastest.resize(std::min(fastest.size(), kMostStarts));
  std::vector<PlacementStart> starts;
  starts.reserve(fastest.size());
  for (const PoolEntry* entry : fastest)
    starts.push_back(
        {entry->assignment.placement, PrioritiesInOrder(entry->assignment.sequence), entry->assignment.sequence});
  return starts;
}

// What the first of these ways of fusing may have of the time that all of them have.
double ShareOfRest(const Pool& pool, std::span<const int> fusions) {
  double all = 0;
  for (const int fusion : fusions) all += pool.ShareOf(fusion);
  return pool.ShareOf(fusions.front()) / all;
}

}  // namespace

std::vector<Candidate> ContendedPlans(const Pool& pool, const PlannerRegistry& planners,
                                      const ContendedPlansOptions& options,
                                      const std::function<void(int, int)>& progress) {
  std::vector<int> choices;
  for (int fusion = 0; fusion < static_cast<int>(pool.fusions.size()); ++fusion) {
    if (pool.fusions[static_cast<std::size_t>(fusion)].open_to_all) choices.push_back(fusion);
  }
  const PoolEntry* const own = FastestOfOwnGroups(pool, planners);
  if (own != nullptr) choices.push_back(own->fusion);
  std::vector<Candidate> candidates;
  const int total = static_cast<int>(choices.size());
  const Deadline deadline(options.seconds);
  for (int at = 0; at < total; ++at) {
    const int fusion = choices[static_cast<std::size_t>(at)];
    const bool from_own = own != nullptr && at + 1 == total;
    const CostedGraph& costed = pool.fusions[static_cast<std::size_t>(fusion)].costed;
    const bool greedy = options.judge == PlacementJudge::kGreedy;
    if (costed.topology.AllTransfersFree() && !greedy) continue;
    PlacementSearchOptions search;
    search.judge = options.judge;
    search.evaluations = std::min(options.most_tries, options.visits / std::max<std::int64_t>(1, costed.Visits()));
    if (options.seconds)
      search.seconds = deadline.Left() * ShareOfRest(pool, std::span(choices).subspan(static_cast<std::size_t>(at)));
    if (*search.evaluations < kFewestTries) continue;
    if (from_own) {
      search.starts = {
          {own->assignment.placement, PrioritiesInOrder(own->assignment.sequence), own->assignment.sequence}};
    } else {
      search.starts = FastestOf(pool, fusion);
    }
    Random random = options.random.Fork(static_cast<std::uint64_t>(at));
    if (std::optional<FoundPlacement> found = SearchPlacement(costed, search, random)) {
      PoolEntry entry;
      entry.fusion = fusion;
      entry.method = from_own ? own->method + "+search" : greedy ? "greedy-search" : "contended-search";
      entry.proxy_seconds = Simulator(costed).Makespan(found->assignment);
      entry.assignment = std::move(found->assignment);
      candidates.push_back(MakeCandidate(pool, entry));
    }
    progress(at + 1, total);
  }
  return candidates;
}

}  // namespace millrace
