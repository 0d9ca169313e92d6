// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "millrace/optimize/candidate.h"
#include "millrace/optimize/pool.h"
#include "millrace/search/placement_search.h"

// Plans for machines whose transfers get in each other's way, which the linear proxy knows nothing of.
namespace millrace {

struct ContendedPlansOptions {
  std::int64_t visits = 10'000'000;  // of groups and edges, over all placements tried for one fusion choice
  std::int64_t most_tries = 4000;    // for one fusion choice
  std::optional<double> seconds;     // for all together
  PlacementJudge judge = PlacementJudge::kContended;
  Random random{0};
};

// The best placement that search/placement_search.h finds for each fusion that is open to all, method
// "contended-search", beginning with the fastest plans of the pool and placements by hand; and for that of the best
// plan by the proxy whose planner chose its groups, where the search begins with that plan, "PLANNER+search". Other
// groups of one plan are passed over. None where all transfers are free, where a graph is so large that its visits
// allow few tries, and where no placement tried fits in memory. Judged as greedy, the method is "greedy-search", and
// free transfers are no reason not to search. `progress` is told (done, total) after each choice. Throws Interrupted.
std::vector<Candidate> ContendedPlans(const Pool& pool, const PlannerRegistry& planners,
                                      const ContendedPlansOptions& options,
                                      const std::function<void(int, int)>& progress);

}  // namespace millrace
