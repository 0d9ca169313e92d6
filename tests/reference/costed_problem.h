// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace::testing {

// A random graph on a random machine, with random groups priced. Stays where it is made.
struct CostedProblem {
  explicit CostedProblem(Random& random, const RandomProblemOptions& options = {}, Proxy proxy = Proxy::kLinear)
      : graph(RandomGraph(random, options)),
        machine(RandomMachine(random, options)),
        model(MakeAnalyticCostModel(graph, machine, proxy)),
        costed(MakeCostedGraph(*model, RandomGroups(random, graph))) {}
  CostedProblem(const CostedProblem&) = delete;
  CostedProblem& operator=(const CostedProblem&) = delete;

  // A plan to begin with.
  Assignment Start(Random& random) const {
    Plan plan = RandomPlan(random, graph, machine, costed.groups);
    return {std::move(plan.placement), std::move(plan.sequence)};
  }

  const ComputationGraph graph;
  const Machine machine;
  const std::unique_ptr<const CostModel> model;
  const CostedGraph costed;
};

}  // namespace millrace::testing
