// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/simulation.h"

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/greedy.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/proven_bound.h"

namespace millrace {

Simulation Simulate(const ComputationGraph& graph, const PlanRecord& record) {
  const CostedGraph costed =
      MakeCostedGraph(*MakeAnalyticCostModel(graph, record.machine, record.proxy), record.plan.groups);
  const Assignment assignment{record.plan.placement, record.plan.sequence};
  Simulation simulation;
  simulation.timeline = MakeTimeline(costed, assignment);
  const std::vector<double> peaks = PeakMemory(costed, assignment, simulation.timeline);
  for (const std::int32_t memory : costed.topology.memory_of)
    simulation.peak_memory.push_back(peaks[static_cast<std::size_t>(memory)]);
  simulation.feasible = Fits(costed, peaks);
  simulation.lower_bound = LowerBound(costed);
  simulation.proven_bound = ProvenBoundFor(costed, simulation.feasible);
  simulation.fragility = Fragility(costed, assignment);
  return simulation;
}

}  // namespace millrace
