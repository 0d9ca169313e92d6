// SPDX-License-Identifier: Apache-2.0
#include "tests/report/sample_result.h"

#include "millrace/machine/preset.h"
#include "millrace/optimize/planners.h"
#include "millrace/workloads/random_graph.h"

namespace millrace::testing {

OptimizeResult SmallResult(const std::string& op_name) {
  RandomGraphOptions options;
  options.ops = 40;
  options.seed = 3;
  GraphData data = MakeRandomGraph("layered", options).data();
  data.name = "small & <layered>";
  data.ops[0].name = op_name;
  LoadedGraph loaded;
  loaded.graph = ComputationGraph(std::move(data));
  OptimizeOptions optimize;
  optimize.target = "sim:noise";
  optimize.methods = {"heft", "list", "randomised-list", "anneal"};
  optimize.samples = 32;
  optimize.iterations = 2000;
  return Optimize(loaded, *MachinePreset("homogeneous:3"), MakePlannerRegistry(), optimize, nullptr);
}

}  // namespace millrace::testing
