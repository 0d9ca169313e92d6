// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/guessed_plans.h"

#include "millrace/optimize/select.h"
#include "millrace/simulate/timeline.h"

namespace millrace {

std::vector<Candidate> PlansUnder(const CostModel& believed, const Machine& machine, const PlannerRegistry& planners,
                                  const PoolOptions& options, std::size_t places, Pool& pool, const PoolWatch& watch) {
  const Deadline deadline(options.seconds);
  const Pool under_guess = MakePool(believed, planners, OpenFusions(pool), options, watch);
  pool.proposed += under_guess.proposed;
  pool.infeasible += under_guess.infeasible;
  std::vector<Candidate> candidates = SelectDiverse(under_guess, machine, {.keep = places}, deadline);
  for (Candidate& candidate : candidates) {
    for (const PoolFusion& fusion : pool.fusions) {
      if (fusion.name != candidate.fusion) continue;
      Simulator simulator(fusion.costed);
      candidate.proxy_seconds = simulator.Makespan(candidate.plan.placement, candidate.plan.sequence);
    }
  }
  return candidates;
}

}  // namespace millrace
