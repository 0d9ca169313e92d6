// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "millrace/cost/cost_model.h"
#include "millrace/optimize/pool.h"
#include "millrace/random/random.h"

// Searching on from the fastest plan of a pool with all the time that is left, for targets that take as long as the
// proxy says. Seconds.
namespace millrace {

struct SearchOnOptions {
  double seconds = 1;  // wall time
  int threads = 1;     // searches at the same time
  Random random{0};
};

// One search goes on from the plan on each thread, each for all of the time: annealing on the first; on the second,
// under the contended proxy, the search for placements (search/placement_search.h), which moves clusters under a list
// scheduler and is ahead on some graphs; annealing by other chances on the rest. One thread has no time for both: half
// of it for each is worse than all of it for annealing on most graphs. The fastest plan if it is faster than `start`,
// which is one of the pool's or of its fusions; its method says where it began and what went on. Throws Interrupted.
std::optional<PoolEntry> SearchOnFrom(const CostModel& model, const Pool& pool, const PoolEntry& start,
                                      const SearchOnOptions& options);

}  // namespace millrace
