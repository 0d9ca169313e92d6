// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/guessed_plans.h"

#include "millrace/optimize/select.h"
#include "millrace/simulate/timeline.h"

namespace millrace {

std::vector<Candidate> PlansUnder(const CostModel& believed, const Machine& machine, const PoolOptions& options,
                                  std::size_t places, Pool& pool, const std::function<void(int, int)>& progress) {
  const Pool under_guess = MakePool(believed, pool.fusions, options, progress);
  pool.proposed += under_guess.proposed;
  pool.infeasible += under_guess.infeasible;
  std::vector<Candidate> candidates = SelectDiverse(under_guess, machine, {.top_k = places});
  for (Candidate& candidate : candidates) {
    for (std::size_t fusion = 0; fusion < pool.fusions.size(); ++fusion) {
      if (pool.fusions[fusion].name != candidate.fusion) continue;
      Simulator simulator(pool.costed[fusion]);
      candidate.proxy_seconds = simulator.Makespan(candidate.plan.placement, candidate.plan.sequence);
    }
  }
  return candidates;
}

}  // namespace millrace
