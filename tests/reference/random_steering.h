// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/steering.h"
#include "tests/reference/random_problem.h"

namespace millrace::testing {

// Some of a plan's groups kept, and some of its other ops pinned: the plan keeps to that, and others can, with these
// ops fused or not. `model` is one without steering.
Steering RandomSteering(Random& random, const Plan& plan, const CostModel& model, const Machine& machine);

// A random graph on a random machine, with something settled before anybody plans. Stays where it is made.
struct SteeredProblem {
  explicit SteeredProblem(Random& random, const RandomProblemOptions& options = {}, Proxy proxy = Proxy::kLinear)
      : graph(RandomGraph(random, options)),
        machine(RandomMachine(random, options)),
        steering(RandomSteering(random, RandomPlan(random, graph, machine, RandomGroups(random, graph)),
                                *MakeAnalyticCostModel(graph, machine, proxy), machine)),
        model(MakeSteeredCostModel(MakeAnalyticCostModel(graph, machine, proxy), steering)) {}
  SteeredProblem(const SteeredProblem&) = delete;
  SteeredProblem& operator=(const SteeredProblem&) = delete;

  const ComputationGraph graph;
  const Machine machine;
  const Steering steering;
  const std::unique_ptr<const CostModel> model;
};

}  // namespace millrace::testing
