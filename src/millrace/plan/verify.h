// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"

// The rules a plan must keep. Memory is not asked here: it needs a timeline (simulate/peak_memory.h).
namespace millrace {

// The first rule the groups break: an op missing, twice, unknown, or a group that is not legal. Nothing if they stand.
std::optional<std::string> WhyNotGroups(const ComputationGraph& graph, const FusionGroups& groups);

// The first rule the plan breaks, in one line that names the group and op; nothing if it is valid: groups as above,
// every op (and every group that group_seconds names) can run on its device, equal colocate strings share one, the
// sequence is a topological order of all groups.
std::optional<std::string> WhyNotValid(const ComputationGraph& graph, const Machine& machine, const Plan& plan);

// Throws InvalidInput with that line.
void VerifyPlan(const ComputationGraph& graph, const Machine& machine, const Plan& plan);

// The same of a record's plan on its machine, which must have been made for the graph, too: its graph_hash, where it
// states one, is the graph's.
void VerifyRecord(const ComputationGraph& graph, const PlanRecord& record);

}  // namespace millrace
