// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/random/random.h"

// Problems as plain as they come, beside the odd ones of random_problem.h.
namespace millrace::testing {

// A graph of a random family without ties.
ComputationGraph TidyGraph(Random& random, int ops);

Machine EqualMachine(int devices);

}  // namespace millrace::testing
