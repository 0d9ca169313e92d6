// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/optimize/optimize.h"
#include "millrace/simulate/timeline.h"

// What a plan does, worked out for telling: its timeline, who is busy with what. Seconds.
namespace millrace {

struct TypeShare {
  std::string type;  // op types of the groups, "Conv + Relu" for fused ones
  int groups = 0;
  double seconds = 0;  // device time
};

struct PlanAccount {
  std::string name;  // "best", or the baseline's
  const Candidate* candidate = nullptr;
  Proxy proxy = Proxy::kLinear;  // what the timeline is by
  bool of_target = false;        // it is the target's too
  Timeline timeline;
  std::vector<double> unit_busy;    // by unit (Topology's numbering)
  std::vector<int> device_groups;   // by device
  std::vector<double> device_busy;  // by device
  std::vector<TypeShare> types;     // most seconds first
  double lower_bound_seconds = 0;   // for its groups
  std::vector<double> peak_memory;  // by memory, bytes
};

// The plan's account under the analytic cost of the graph and the proxy.
PlanAccount AccountOf(std::string name, const Candidate& candidate, const ComputationGraph& graph,
                      const Machine& machine, Proxy proxy = Proxy::kLinear);

// Of the best plan, then of each baseline; by the contended proxy where the target is sim:contention, whose timelines
// these are; peak memory is that of the run's proxy all the same. The result must outlive them.
std::vector<PlanAccount> AccountsOf(const OptimizeResult& result);

// "Conv + Relu": the distinct op types of a group in order.
std::string TypesOf(const ComputationGraph& graph, const std::vector<OpId>& group);

}  // namespace millrace
