// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/contended_plans.h"

#include <algorithm>
#include <utility>

#include "millrace/search/placement_search.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// Starts and their two orders take about this many tries.
constexpr std::int64_t kFewestTries = 30;

bool AllTransfersFree(const Topology& topology) {
  return std::all_of(topology.free.begin(), topology.free.end(), [](std::uint8_t free) { return free != 0; });
}

}  // namespace

std::vector<Candidate> ContendedPlans(const Pool& pool, const ContendedPlansOptions& options,
                                      const std::function<void(int, int)>& progress) {
  std::vector<Candidate> candidates;
  const int total = static_cast<int>(pool.fusions.size());
  for (int fusion = 0; fusion < total; ++fusion) {
    const CostedGraph& costed = pool.costed[static_cast<std::size_t>(fusion)];
    if (pool.fusions[static_cast<std::size_t>(fusion)].of_one_plan || AllTransfersFree(costed.topology)) continue;
    PlacementSearchOptions search;
    search.evaluations = std::min(options.most_tries, options.visits / std::max<std::int64_t>(1, Visits(costed)));
    if (options.seconds) search.seconds = *options.seconds / total;
    if (search.evaluations < kFewestTries) continue;
    Random random = Random(options.seed).Fork(static_cast<std::uint64_t>(fusion));
    if (std::optional<FoundPlacement> found = SearchPlacement(costed, search, random)) {
      PoolEntry entry;
      entry.fusion = fusion;
      entry.method = "contended-search";
      entry.proxy_seconds = Simulator(costed).Makespan(found->assignment);
      entry.assignment = std::move(found->assignment);
      candidates.push_back(MakeCandidate(pool, entry));
    }
    progress(fusion + 1, total);
  }
  return candidates;
}

}  // namespace millrace
