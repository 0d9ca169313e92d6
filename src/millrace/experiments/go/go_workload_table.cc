// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/go_workload_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/peak_memory.h"

namespace millrace {
namespace {

constexpr double kGiga = 1e9;

double LongestPath(const CostedGraph& costed) {
  std::vector<double> finish(static_cast<std::size_t>(costed.num_groups), 0);
  double longest = 0;
  for (const std::int32_t group : costed.topological_order) {
    double& own = finish[static_cast<std::size_t>(group)];
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      own = std::max(own, finish[static_cast<std::size_t>(edge.group)]);
    }
    own += costed.fastest_seconds[static_cast<std::size_t>(group)];
    longest = std::max(longest, own);
  }
  return longest;
}

double PeakOnOneDevice(const CostedGraph& costed) {
  Assignment assignment;
  assignment.placement.assign(static_cast<std::size_t>(costed.num_groups), 0);
  assignment.sequence.assign(costed.topological_order.begin(), costed.topological_order.end());
  const std::vector<double> peaks = PeakMemory(costed, assignment, MakeTimeline(costed, assignment));
  return *std::max_element(peaks.begin(), peaks.end());
}

std::vector<Cell> RowOf(const GoWorkload& workload) {
  const ComputationGraph graph = MakeGoWorkload(workload);
  const Machine machine = MachinePreset(fmt::format("p100x{}", workload.devices)).value();
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  double flops = 0;
  double weight_bytes = 0;
  for (OpId id = 0; id < graph.num_ops(); ++id) {
    flops += graph.op(id).flops;
    if (graph.op(id).type == "Variable") weight_bytes += graph.tensor(graph.Outputs(id)[0]).bytes;
  }
  const double work = std::accumulate(costed.fastest_seconds.begin(), costed.fastest_seconds.end(), 0.0);
  const double longest = LongestPath(costed);
  return {Words(workload.name),
          Words(workload.title),
          Count(static_cast<std::size_t>(workload.devices)),
          Count(static_cast<std::size_t>(graph.num_ops())),
          Count(static_cast<std::size_t>(graph.num_tensors())),
          Number(flops / (1e3 * kGiga), 2),
          Number(weight_bytes / kGiga, 2),
          Number(PeakOnOneDevice(costed) / kGiga, 1),
          Number(work, 3),
          Number(longest, 3),
          Number(work / longest, 1)};
}

}  // namespace

std::vector<Table> GoWorkloadTable(const std::vector<GoWorkload>& workloads,
                                   const std::function<void(int, int)>& progress) {
  Table table;
  table.name = "workloads";
  table.caption = "Training graphs, not fused, on P100s of 16 GB";
  table.columns = {"workload",       "in the paper", "devices",        "ops",        "tensors", "Tflops", "weights GB",
                   "peak on one GB", "work s",       "longest path s", "work / path"};
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    progress(static_cast<int>(i), static_cast<int>(workloads.size()));
    table.rows.push_back(RowOf(workloads[i]));
  }
  return {table};
}

}  // namespace millrace
