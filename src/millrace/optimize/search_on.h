// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "millrace/cost/cost_model.h"
#include "millrace/optimize/pool.h"
#include "millrace/planning/planner.h"
#include "millrace/random/random.h"

// Searching on from the fastest plan of a pool with all the time that is left, for targets that take as long as the
// proxy says. Seconds.
namespace millrace {

struct SearchOnOptions {
  double seconds = 1;              // wall time
  int threads = 1;                 // searches at the same time
  const Planner* first = nullptr;  // searches on the first thread where transfers do not contend; null: annealing
  const Planner* open = nullptr;   // with fusion open, in its place where ops can be fused; null: nowhere
  Random random{0};
};

// One search goes on from the plan on each thread, each for all of the time. On the first it is one with fusion open,
// where ops can be fused and the graph is not too large for the time; else, under the linear proxy, a search from
// several starts, which is ahead of annealing where a pool has had little time to find them; under the contended one
// annealing. On the second, under the contended proxy, the search for placements (search/placement_search.h), which
// moves clusters under a list scheduler and is ahead on some graphs; annealing by other chances on the rest. One thread
// has no time for two: half of it for each is worse than all of it for one on most graphs. The fastest plan if it is
// faster than `start`, which is one of the pool's or of its fusions; its method says where it began and what went on.
// The pool gets its groups if it has not got them. Throws Interrupted.
std::optional<PoolEntry> SearchOnFrom(const CostModel& model, Pool& pool, const PoolEntry& start,
                                      const SearchOnOptions& options);

}  // namespace millrace
