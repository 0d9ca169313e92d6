// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "millrace/optimize/pool.h"
#include "millrace/optimize/transfer_guess.h"

// Plans for a machine that hands tensors around less cheaply than the proxy believes.
namespace millrace {

// At most `places` different plans that are good under the guess, of the methods that options name. Their proxy_seconds
// are the proxy's, without the guess, so that they compare with other candidates'. Adds to the counts of `pool` what
// was proposed. Throws Interrupted.
std::vector<Candidate> PlansUnderGuess(const CostModel& proxy, const Machine& machine, const TransferGuess& guess,
                                       const PoolOptions& options, std::size_t places, Pool& pool,
                                       const std::function<void(int, int)>& progress);

}  // namespace millrace
