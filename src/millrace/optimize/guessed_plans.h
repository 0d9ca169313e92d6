// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/optimize/pool.h"

// Plans for a machine that is not quite what the proxy believes.
namespace millrace {

// At most `places` different plans that are good by `believed`, a version of the proxy with other costs, made by the
// methods that options name. Their proxy_seconds are the proxy's own, so that they compare with other candidates'. Adds
// to the counts of `pool`, which has the proxy's version, what was proposed. Throws Interrupted.
std::vector<Candidate> PlansUnder(const CostModel& believed, const Machine& machine, const PlannerRegistry& planners,
                                  const PoolOptions& options, std::size_t places, Pool& pool, const PoolWatch& watch);

}  // namespace millrace
