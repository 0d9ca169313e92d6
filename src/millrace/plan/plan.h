// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/machine/proxy.h"

// What Millrace decides: which ops run fused (groups), where each group runs (placement), and in which order
// (sequence).
namespace millrace {

// The partition of a graph's ops into groups that run as one; ops of a group in execution order.
using FusionGroups = std::vector<std::vector<OpId>>;

// Every op a group of its own: group i is op i.
FusionGroups SingleOpGroups(const ComputationGraph& graph);

// The half of a plan that is decided once the groups stand.
struct Assignment {
  std::vector<int> placement;  // device of each group
  std::vector<int> sequence;   // one global order of all groups; each unit runs its own in this order

  bool operator==(const Assignment&) const = default;
};

struct Plan {
  FusionGroups groups;
  std::vector<int> placement;
  std::vector<int> sequence;

  bool operator==(const Plan&) const = default;
};

// A plan with what a file of it says besides: whose it is and what it promises.
struct PlanRecord {
  Plan plan;
  std::string graph_name;
  std::string graph_hash;  // GraphHash of the graph it was made for; empty: not stated
  Machine machine;
  std::string method;
  std::uint64_t seed = 0;
  Proxy proxy = Proxy::kLinear;  // which proxy_seconds is of
  double proxy_seconds = 0;
  std::optional<double> target_seconds;
};

}  // namespace millrace
