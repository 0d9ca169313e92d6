// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "millrace/optimize/candidate.h"
#include "millrace/optimize/pool.h"
#include "millrace/planning/objective.h"
#include "millrace/random/random.h"

// From a pool that was made for latency, plans that are better at something else and slower. Seconds.
namespace millrace {

struct TradeOptions {
  Objective objective;
  std::optional<std::int64_t> iterations;  // of the search, over all ways of fusing
  std::optional<double> seconds;           // wall time of it
  Random random{0};
};

// Plans none of which is beaten in both proxy and value, fastest first, with their values: of the pool, for memory of
// orders and placements that spare it, and of a search (search/trade_search.h) within several limits, the objective's
// among them. For every way of fusing that is open to all and for that of the fastest plan. `progress` is told how many
// of these are done.
std::vector<Candidate> TradePlans(const Pool& pool, const TradeOptions& options,
                                  const std::function<void(int, int)>& progress);

// At most `most` of them: those that take at most `limit`, least value first, and of the rest every so many.
std::vector<Candidate> SpreadOver(const std::vector<Candidate>& front, double limit, std::size_t most);

// Measured plans none of which is beaten in time and value, fastest first.
std::vector<Candidate> MeasuredFront(const std::vector<Candidate>& candidates);

}  // namespace millrace
