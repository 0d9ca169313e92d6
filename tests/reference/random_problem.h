// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// Random inputs for property tests: small, odd and varied on purpose (gangs, missing kinds, zero bytes, colocation,
// outputs that are also read, fusible types beside unknown ones).
namespace millrace::testing {

struct RandomProblemOptions {
  int most_ops = 24;
  int most_devices = 5;
  bool kinds = true;  // some ops state seconds by kind, never so that one can run nowhere
  bool colocate = true;
  bool gangs = true;
  bool memory = false;  // devices state capacities
  bool fusible = true;  // some ops have fusible types
  bool group_seconds = true;
  bool links = true;  // else every transfer is free
  bool fair = false;  // channels are shared fairly
  bool tidy = false;  // times and rates are small dyadic fractions: sums are exact and ties are common
};

// Every map of seconds by kind has "cpu", and device 0 of every machine is of that kind: an op can always run there.
ComputationGraph RandomGraph(Random& random, const RandomProblemOptions& options = {});
Machine RandomMachine(Random& random, const RandomProblemOptions& options = {});

// Legal groups, some with several ops, that together have an order.
FusionGroups RandomGroups(Random& random, const ComputationGraph& graph);

// A valid plan for the graph and machine (memory aside). Every op must be able to run on some device.
Plan RandomPlan(Random& random, const ComputationGraph& graph, const Machine& machine, FusionGroups groups);

}  // namespace millrace::testing
