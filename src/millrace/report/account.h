// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/optimize/optimize.h"
#include "millrace/report/explanation.h"
#include "millrace/simulate/peak_memory.h"

// What a plan does, worked out for telling: its timeline, who is busy with what, what waits for what. Seconds, bytes.
namespace millrace {

struct TypeShare {
  std::string type;  // op types of the groups, "Conv + Relu" for fused ones
  std::string main;  // the one of them that takes longest
  int groups = 0;
  double seconds = 0;  // device time
};

// Where a unit's time goes until the plan is done; together the makespan.
struct UnitTime {
  double computing = 0;
  double for_transfers = 0;  // it stands still until a tensor has come
  double for_results = 0;    // until another device has made what it needs
  double idle = 0;           // it has nothing to do: before its first group, after its last
};

struct PlanAccount {
  std::string name;   // "best", or the baseline's
  std::string shown;  // what the timeline is of: "predicted", "measured"
  const Candidate* candidate = nullptr;
  Proxy proxy = Proxy::kLinear;               // what the plan is explained by
  bool of_target = false;                     // the target goes by the same
  std::shared_ptr<const CostedGraph> costed;  // its groups, priced; accounts of the same groups share it
  PlanExplanation explanation;                // no path, reasons and transfers of a measured timeline
  Timeline timeline;                          // the proxy's, or as measured
  std::vector<UnitTime> units;                // by unit (Topology's numbering)
  std::vector<int> device_groups;
  std::vector<double> device_busy;
  std::vector<double> received_bytes;  // by memory: tensors that come from others
  std::vector<TypeShare> types;        // most seconds first
  double lower_bound_seconds = 0;      // for its groups
  std::vector<double> peak_memory;     // by memory
  std::vector<MemoryUse> memory;       // by memory
};

// The plan's account under the analytic cost of the graph and the proxy. The candidate must outlive it.
PlanAccount AccountOf(std::string name, const Candidate& candidate, const ComputationGraph& graph,
                      const Machine& machine, Proxy proxy = Proxy::kLinear);

// The same plan as it ran.
PlanAccount AsMeasured(const ComputationGraph& graph, const PlanAccount& predicted, const Timeline& measured);

// Of the best plan, then of each baseline, then of the challenger and of the measured timelines, where there are any;
// by the contended proxy where the target is sim:contention, whose timelines these are; peak memory is that of the
// run's proxy all the same. The result must outlive them.
std::vector<PlanAccount> AccountsOf(const OptimizeResult& result);

// What stands between a plan's name and the rest of its title: "anneal, ", or nothing where the plan is called so.
std::string MethodBeside(const PlanAccount& account);

// "Conv + Relu": the distinct op types of a group in order.
std::string TypesOf(const ComputationGraph& graph, const std::vector<OpId>& group);

// The type of the op that takes most of the group's time, or has most of its flops where no times are stated.
std::string MainTypeOf(const ComputationGraph& graph, const std::vector<OpId>& group);

}  // namespace millrace
