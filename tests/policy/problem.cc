// SPDX-License-Identifier: Apache-2.0
#include "tests/policy/problem.h"

#include <string>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace::testing {

Problem::Problem(ComputationGraph of, const Machine& machine)
    : graph(std::move(of)),
      costed(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph))),
      environment(costed) {}

std::unique_ptr<Problem> OddProblem(Random& random) {
  ComputationGraph graph = RandomGraph(random);
  return std::make_unique<Problem>(std::move(graph), RandomMachine(random));
}

ComputationGraph TidyGraph(Random& random, int ops) {
  const std::vector<std::string>& families = RandomFamilyNames();
  RandomGraphOptions options;
  options.ops = ops;
  options.seed = random.Next();
  return MakeRandomGraph(families[random.Below(families.size())], options);
}

Machine EqualMachine(int devices) {
  Machine machine;
  for (int d = 0; d < devices; ++d) {
    Device device;
    device.name = "device" + std::to_string(d);
    device.kind = "cpu";
    device.units = {d};
    device.flops_per_second = device.memory_bandwidth = 1e9;
    machine.devices.push_back(device);
  }
  machine.default_link = DefaultLink{1e-3, 1e9};
  return machine;
}

std::vector<Action> Walk(const Environment& environment, Random& random, const Visit& visit) {
  State state(environment);
  Observation groups, devices;
  std::vector<Action> actions;
  while (!state.done()) {
    ObserveGroups(state, groups);
    const std::int32_t group = groups.choices[random.Below(groups.size())];
    ObserveDevices(state, group, devices);
    visit(state, groups, group, devices);
    actions.push_back({group, devices.choices[random.Below(devices.size())]});
    state.Append(actions.back());
  }
  return actions;
}

Weights Shaken(Weights weights, Random& random, double noise) {
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(noise * random.Normal());
  }
  return weights;
}

}  // namespace millrace::testing
