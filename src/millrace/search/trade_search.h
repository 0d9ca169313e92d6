// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/planning/plan_value.h"
#include "millrace/random/random.h"

// Plans that trade latency for something else: what their fullest memory holds, or how soon runs follow each other.
namespace millrace {

struct TradePlan {
  Assignment assignment;
  double makespan = 0;
  double value = 0;  // what is traded for: asked of every change that is fast enough
};

// Plans none of which is beaten in both: the faster they are, the more they cost.
class TradeFront {
 public:
  // False where a plan that is there is no worse in both.
  bool Add(TradePlan plan);

  // Ascending by makespan, descending by value.
  const std::vector<TradePlan>& plans() const { return plans_; }

  // The one of least value among those that take at most `limit`; null where none does.
  const TradePlan* Within(double limit) const;

 private:
  std::vector<TradePlan> plans_;
};

struct TradeSearchOptions {
  // Makespans not to be exceeded, each searched for an equal share; the search begins at the front's best plan within.
  std::vector<double> limits;
  std::optional<std::int64_t> iterations;  // changes tried, over all limits
  std::optional<double> seconds;           // wall time, the same
  std::int64_t visits = 100'000'000;       // where neither is named: changes x groups and edges of the graph
};

// Simulated annealing by the moves of local search (moves.h): a change that takes longer than the limit is refused by
// its price alone, without a simulation; of the others one that makes the plan dearer by d is taken with probability
// exp(-d / T). All that is met goes to the front. Plans that do not fit in memory are never taken. The same front,
// options and generator give the same plans unless `seconds` is set. StopIfInterrupted now and then.
void SearchTrade(const CostedGraph& costed, const PlanValue& value, const TradeSearchOptions& options,
                 TradeFront& front, Random& random);

}  // namespace millrace
