// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "millrace/machine/topology.h"
#include "millrace/plan/plan.h"

// The chains a plan makes: for every unit the groups it runs, in order. Two plans with the same chains have the same
// timeline. Source: the chain graph of "Robust Scheduling with GFlowNets" (Zhang et al., 2023), units for its devices.
namespace millrace {

// For every unit, the groups that occupy it in order of the sequence.
std::vector<std::vector<int>> UnitChains(const Topology& topology, const Assignment& assignment);

// The chain edges (group, next group on a unit), ascending and distinct.
std::vector<std::pair<int, int>> ChainEdges(const Topology& topology, const Assignment& assignment);

}  // namespace millrace
