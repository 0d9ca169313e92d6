// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"

// Fingerprints that tie plans and measurements to what they were made for: 16 hexadecimal digits of 64-bit FNV-1a.
namespace millrace {

// Of what a plan depends on to be valid: op types, colocation, tensors with their ends, sizes and output marks. Names
// and costs are left out, so a graph keeps its hash when it is renamed or profiled.
std::string GraphHash(const ComputationGraph& graph);

// Of everything about the machine but its name and its devices' names.
std::string MachineHash(const Machine& machine);

// Of the decisions alone.
std::string PlanHash(const Plan& plan);

}  // namespace millrace
