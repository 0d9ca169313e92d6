// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/peak_memory.h"

namespace millrace {

PlanAccount AccountOf(std::string name, const Candidate& candidate, const ComputationGraph& graph,
                      const Machine& machine, Proxy proxy) {
  const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(graph, machine, proxy);
  const CostedGraph costed = MakeCostedGraph(*model, candidate.plan.groups);
  const Assignment assignment{candidate.plan.placement, candidate.plan.sequence};
  PlanAccount account;
  account.name = std::move(name);
  account.candidate = &candidate;
  account.proxy = proxy;
  account.timeline = MakeTimeline(costed, assignment);
  account.unit_busy.assign(static_cast<std::size_t>(costed.topology.num_units), 0.0);
  account.device_groups.assign(machine.devices.size(), 0);
  account.device_busy.assign(machine.devices.size(), 0.0);
  std::map<std::string, TypeShare> types;
  for (int group = 0; group < costed.num_groups; ++group) {
    const auto device = static_cast<std::size_t>(assignment.placement[static_cast<std::size_t>(group)]);
    const double seconds = costed.Seconds(group, static_cast<int>(device));
    ++account.device_groups[device];
    account.device_busy[device] += seconds;
    for (std::int32_t u = costed.topology.device_offsets[device]; u < costed.topology.device_offsets[device + 1]; ++u) {
      account.unit_busy[static_cast<std::size_t>(costed.topology.device_units[static_cast<std::size_t>(u)])] += seconds;
    }
    const std::string type = TypesOf(graph, costed.groups[static_cast<std::size_t>(group)]);
    TypeShare& share = types[type];
    share.type = type;
    ++share.groups;
    share.seconds += seconds;
  }
  for (auto& [type, share] : types) account.types.push_back(share);
  std::stable_sort(account.types.begin(), account.types.end(),
                   [](const TypeShare& a, const TypeShare& b) { return a.seconds > b.seconds; });
  account.lower_bound_seconds = LowerBound(costed);
  account.peak_memory = PeakMemory(costed, assignment, account.timeline);
  return account;
}

std::vector<PlanAccount> AccountsOf(const OptimizeResult& result) {
  const bool of_target = result.target == "sim:contention";
  const auto account_of = [&](const std::string& name, const Candidate& candidate) {
    PlanAccount account =
        AccountOf(name, candidate, result.graph, result.machine, of_target ? Proxy::kContended : result.proxy);
    account.of_target = of_target;
    if (account.proxy != result.proxy)
      account.peak_memory = AccountOf(name, candidate, result.graph, result.machine, result.proxy).peak_memory;
    return account;
  };
  std::vector<PlanAccount> accounts{account_of("best", result.best)};
  for (const BaselineResult& baseline : result.baselines)
    accounts.push_back(account_of(baseline.name, baseline.candidate));
  return accounts;
}

std::string TypesOf(const ComputationGraph& graph, const std::vector<OpId>& group) {
  std::vector<std::string> types;
  for (const OpId op : group) {
    const std::string& type = graph.op(op).type;
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return types.size() == 1 && types.front().empty() ? "op" : fmt::format("{}", fmt::join(types, " + "));
}

}  // namespace millrace
