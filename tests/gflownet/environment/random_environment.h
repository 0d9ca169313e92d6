// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/analytic_cost.h"
#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/random/random.h"
#include "tests/reference/random_problem.h"

// A random problem with everything an environment needs, kept alive together.
namespace millrace::testing {

struct EnvironmentProblem {
  EnvironmentProblem(Random& random, const RandomProblemOptions& options, bool fused = true)
      : graph(RandomGraph(random, options)),
        machine(RandomMachine(random, options)),
        costed(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine),
                               fused ? RandomGroups(random, graph) : SingleOpGroups(graph))),
        environment(costed) {}

  EnvironmentProblem(const EnvironmentProblem&) = delete;
  EnvironmentProblem& operator=(const EnvironmentProblem&) = delete;

  Plan PlanOf(const Assignment& assignment) const {
    return Plan{costed.groups, assignment.placement, assignment.sequence};
  }

  ComputationGraph graph;
  Machine machine;
  CostedGraph costed;
  Environment environment;
};

// A uniform choice among all (ready group, device) pairs.
inline Action RandomAction(const State& state, Random& random) {
  const std::int32_t group = state.ready()[random.Below(state.ready().size())];
  Observation observation;
  ObserveDevices(state, group, observation);
  return {group, observation.choices[random.Below(observation.size())]};
}

// Calls visit(state, action) on the way to a plan of chance, with an action of chance each time.
template <typename Visit>
void WalkByChance(const Environment& environment, Random& random, const Visit& visit) {
  State state(environment);
  while (!state.done()) {
    const Action action = RandomAction(state, random);
    visit(state, action);
    state.Append(action);
  }
}

}  // namespace millrace::testing
