// SPDX-License-Identifier: Apache-2.0
#include "millrace/whole_device_plan.h"

#include "millrace/cost/costed_graph.h"
#include "millrace/fusion/greedy_fusion.h"

namespace millrace::cli {

Plan WholeDevicePlan(const ComputationGraph& graph, const Machine& machine) {
  int best = 0;
  for (std::size_t device = 1; device < machine.devices.size(); ++device) {
    const Device& candidate = machine.devices[device];
    const Device& leader = machine.devices[static_cast<std::size_t>(best)];
    const bool faster = candidate.flops_per_second > leader.flops_per_second;
    const bool smaller =
        candidate.flops_per_second == leader.flops_per_second && candidate.units.size() < leader.units.size();
    if (faster || smaller) best = static_cast<int>(device);
  }
  const auto unit_costs = MakeUnitCostModel(graph, machine);
  const CostedGraph costed = MakeCostedGraph(*unit_costs, GreedyFusion(graph));
  Plan plan;
  plan.groups = costed.groups;
  plan.placement.assign(plan.groups.size(), best);
  plan.sequence.assign(costed.topological_order.begin(), costed.topological_order.end());
  return plan;
}

}  // namespace millrace::cli
