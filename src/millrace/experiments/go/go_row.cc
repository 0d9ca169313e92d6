// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/go_row.h"

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/bounds.h"

namespace millrace {

std::unique_ptr<GoRow> MakeGoRow(const GoWorkload& workload) {
  auto problem = std::make_unique<GoRow>();
  problem->workload = workload;
  problem->graph = MakeGoWorkload(workload);
  const std::string preset = "p100x" + std::to_string(workload.devices);
  const std::optional<Machine> machine = MachinePreset(preset);
  if (!machine) throw InvalidInput(workload.name + ": there is no machine " + preset);
  problem->machine = *machine;
  problem->model = MakeAnalyticCostModel(problem->graph, problem->machine, Proxy::kContended);
  problem->single = MakeCostedGraph(*problem->model, SingleOpGroups(problem->graph));
  problem->fused = MakeCostedGraph(*problem->model, GreedyFusion(problem->graph));
  problem->lower_bound = FusionFreeBound(problem->graph, problem->machine);
  return problem;
}

}  // namespace millrace
