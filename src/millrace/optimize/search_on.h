// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

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
  const Planner* open = nullptr;   // with fusion open, where ops can be fused; null: nowhere
  Random random{0};
  std::function<void(const std::string&)> begins =
      {};  // told the name of what searches on the first thread; may be null
};

// One search goes on from the plan on each thread, each for all of the time. Where ops can be fused and there is time
// for it, fusion is open. Else, under the linear proxy, the first is a search from several starts, which is ahead of
// annealing where a pool has had little time to find them; the others anneal. On the second thread, under the contended
// proxy, the search for placements (search/placement_search.h) moves clusters under a list scheduler, which is ahead on
// some graphs. One thread has no time for two: half of it for each is worse than all of it for one on most graphs. The
// fastest plan if it is faster than `start`, which is one of the pool's or of its fusions; its method says where it
// began and what went on. The pool gets its groups if it has not got them. Throws Interrupted.
std::optional<PoolEntry> SearchOnFrom(const CostModel& model, Pool& pool, const PoolEntry& start,
                                      const SearchOnOptions& options);

}  // namespace millrace
