// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/random/random.h"

// Problems to try policies on, and walks through their states.
namespace millrace::testing {

// A graph on a machine as policies see it, every op a group of its own. Stays where it is made.
struct Problem {
  Problem(ComputationGraph graph, const Machine& machine);
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const ComputationGraph graph;
  const CostedGraph costed;
  const Environment environment;
};

// Odd and varied: gangs, colocation, kinds, ties.
std::unique_ptr<Problem> OddProblem(Random& random);

// Builds one random plan. `visit` gets each state, the observation of its groups, and, once one of these was chosen,
// that group and the observation of its devices.
using Visit = std::function<void(const State&, const Observation& groups, int group, const Observation& devices)>;
std::vector<Action> Walk(const Environment& environment, Random& random, const Visit& visit);

}  // namespace millrace::testing
