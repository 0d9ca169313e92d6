// SPDX-License-Identifier: Apache-2.0
#include "tests/gflownet/policy/policy_problem.h"

#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/gflownet/environment/observer.h"
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

std::vector<Action> Walk(const Environment& environment, Random& random, const Visit& visit) {
  State state(environment);
  Observer observer(environment, true);
  Observation groups, devices;
  std::vector<Action> actions;
  while (!state.done()) {
    observer.See(state);
    observer.Groups(groups);
    const std::int32_t group = groups.choices[random.Below(groups.size())];
    observer.Devices(group, devices);
    visit(state, groups, group, devices);
    actions.push_back({group, devices.choices[random.Below(devices.size())]});
    state.Append(actions.back());
  }
  return actions;
}

}  // namespace millrace::testing
