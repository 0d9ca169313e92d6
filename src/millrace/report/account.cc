// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

// A type's name, of ops that have none too.
const std::string& NameOfType(const Op& op) {
  static const std::string kNone = "op";
  return op.type.empty() ? kNone : op.type;
}

double Weight(const Op& op) {
  double seconds = op.seconds.everywhere.value_or(0);
  for (const auto& [kind, value] : op.seconds.by_kind) seconds = std::max(seconds, value);
  return op.seconds.stated() ? seconds : op.flops;
}

// A device's stretch without work is told by what the group behind it waited for.
std::vector<UnitTime> UnitTimes(const PlanAccount& account) {
  const Topology& topology = account.costed->topology;
  const Plan& plan = account.candidate->plan;
  const TracedTimeline& traced = account.explanation.traced;
  std::vector<UnitTime> units(static_cast<std::size_t>(topology.num_units));
  std::vector<double> free(units.size(), 0.0);
  std::vector<char> begun(units.size(), 0);
  for (const int number : plan.sequence) {
    const auto group = static_cast<std::size_t>(number);
    const auto device = static_cast<std::size_t>(plan.placement[group]);
    const double start = account.timeline.start[group], finish = account.timeline.finish[group];
    for (std::int32_t u = topology.device_offsets[device]; u < topology.device_offsets[device + 1]; ++u) {
      const auto unit = static_cast<std::size_t>(topology.device_units[static_cast<std::size_t>(u)]);
      const double gap = std::max(0.0, start - free[unit]);
      double sent = start;  // what comes before waits for results, what comes after for the transfer
      if (!traced.reasons.empty() && traced.reasons[group].what == WaitsFor::kTransfer)
        sent = std::clamp(account.timeline.finish[static_cast<std::size_t>(traced.reasons[group].group)], free[unit],
                          std::max(free[unit], start));
      (begun[unit] != 0 ? units[unit].for_results : units[unit].idle) += gap - (start - sent);
      units[unit].for_transfers += start - sent;
      units[unit].computing += finish - start;
      free[unit] = finish;
      begun[unit] = 1;
    }
  }
  for (std::size_t unit = 0; unit < units.size(); ++unit)
    units[unit].idle += std::max(0.0, account.timeline.makespan - free[unit]);
  return units;
}

std::vector<double> ReceivedBytes(const CostedGraph& costed, const std::vector<int>& placement) {
  std::vector<double> received(static_cast<std::size_t>(costed.topology.num_memories), 0.0);
  std::set<std::int32_t> memories;
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer < 0) continue;
    const int from = placement[static_cast<std::size_t>(tensor.producer)];
    memories.clear();
    for (const std::int32_t reader : costed.Readers(tensor)) {
      const int to = placement[static_cast<std::size_t>(reader)];
      if (costed.topology.free[costed.topology.Pair(from, to)] == 0)
        memories.insert(costed.topology.memory_of[static_cast<std::size_t>(to)]);
    }
    for (const std::int32_t memory : memories) received[static_cast<std::size_t>(memory)] += tensor.bytes;
  }
  return received;
}

void CountTypes(const ComputationGraph& graph, PlanAccount& account) {
  std::map<std::string, TypeShare> types;
  for (std::size_t group = 0; group < account.costed->groups.size(); ++group) {
    const std::string type = TypesOf(graph, account.costed->groups[group]);
    TypeShare& share = types[type];
    share.type = type;
    if (share.groups == 0) share.main = MainTypeOf(graph, account.costed->groups[group]);
    ++share.groups;
    share.seconds += account.timeline.finish[group] - account.timeline.start[group];
  }
  account.types.clear();
  for (auto& [type, share] : types) account.types.push_back(share);
  std::stable_sort(account.types.begin(), account.types.end(),
                   [](const TypeShare& a, const TypeShare& b) { return a.seconds > b.seconds; });
}

// What follows from the timeline.
void CountTimes(const ComputationGraph& graph, PlanAccount& account) {
  const Plan& plan = account.candidate->plan;
  account.units = UnitTimes(account);
  account.device_groups.assign(static_cast<std::size_t>(account.costed->num_devices), 0);
  account.device_busy.assign(static_cast<std::size_t>(account.costed->num_devices), 0.0);
  for (std::size_t group = 0; group < plan.placement.size(); ++group) {
    const auto device = static_cast<std::size_t>(plan.placement[group]);
    ++account.device_groups[device];
    account.device_busy[device] += account.timeline.finish[group] - account.timeline.start[group];
  }
  CountTypes(graph, account);
  account.memory = MemoryOverTime(*account.costed, {plan.placement, plan.sequence}, account.timeline);
}

std::shared_ptr<const CostedGraph> Priced(const ComputationGraph& graph, const Machine& machine,
                                          const FusionGroups& groups, Proxy proxy) {
  return std::make_shared<const CostedGraph>(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine, proxy), groups));
}

PlanAccount AccountOfPriced(std::string name, const Candidate& candidate, const ComputationGraph& graph,
                            std::shared_ptr<const CostedGraph> costed, Proxy proxy) {
  PlanAccount account;
  account.name = std::move(name);
  account.shown = proxy == Proxy::kContended ? "predicted, with shared links" : "predicted";
  account.candidate = &candidate;
  account.proxy = proxy;
  account.costed = std::move(costed);
  const Assignment assignment{candidate.plan.placement, candidate.plan.sequence};
  account.explanation = Explain(*account.costed, assignment);
  account.timeline = account.explanation.traced.timeline;
  account.received_bytes = ReceivedBytes(*account.costed, assignment.placement);
  CountTimes(graph, account);
  account.lower_bound_seconds = LowerBound(*account.costed);
  account.peak_memory = PeakMemory(*account.costed, assignment, account.timeline);
  return account;
}

// Groups are priced once for all plans that have them: of a large graph that takes seconds.
class PricedGroups {
 public:
  explicit PricedGroups(const OptimizeResult& result) : result_(result) {}

  std::shared_ptr<const CostedGraph> Of(const FusionGroups& groups, Proxy proxy) {
    for (const auto& known : priced_) {
      if (known->topology.proxy == proxy && known->groups == groups) return known;
    }
    return priced_.emplace_back(Priced(result_.graph, result_.machine, groups, proxy));
  }

 private:
  const OptimizeResult& result_;
  std::vector<std::shared_ptr<const CostedGraph>> priced_;
};

}  // namespace

PlanAccount AccountOf(std::string name, const Candidate& candidate, const ComputationGraph& graph,
                      const Machine& machine, Proxy proxy) {
  return AccountOfPriced(std::move(name), candidate, graph, Priced(graph, machine, candidate.plan.groups, proxy),
                         proxy);
}

PlanAccount AsMeasured(const ComputationGraph& graph, const PlanAccount& predicted, const Timeline& measured) {
  PlanAccount account = predicted;
  account.shown = "measured";
  account.timeline = measured;
  account.explanation = {};
  CountTimes(graph, account);
  return account;
}

std::vector<PlanAccount> AccountsOf(const OptimizeResult& result) {
  const bool of_target = result.target == "sim:contention";
  PricedGroups priced(result);
  const auto account_of = [&](const std::string& name, const Candidate& candidate) {
    const Proxy proxy = of_target ? Proxy::kContended : result.proxy;
    PlanAccount account =
        AccountOfPriced(name, candidate, result.graph, priced.Of(candidate.plan.groups, proxy), proxy);
    account.of_target = of_target;
    if (of_target) account.shown = "on the target";
    if (account.proxy != result.proxy) {
      const auto costed = priced.Of(candidate.plan.groups, result.proxy);
      const Assignment assignment{candidate.plan.placement, candidate.plan.sequence};
      account.peak_memory = PeakMemory(*costed, assignment, MakeTimeline(*costed, assignment));
    }
    return account;
  };
  std::vector<PlanAccount> accounts{account_of("best", result.best)};
  for (const BaselineResult& baseline : result.baselines)
    accounts.push_back(account_of(baseline.name, baseline.candidate));
  if (result.challenger) accounts.push_back(account_of("challenger", result.challenger->candidate));
  for (std::size_t i = 0, predicted = accounts.size(); i < predicted; ++i) {
    const std::optional<Timeline>& measured = accounts[i].candidate->measured;
    if (measured && measured->start.size() == accounts[i].candidate->plan.groups.size())
      accounts.push_back(AsMeasured(result.graph, accounts[i], *measured));
  }
  return accounts;
}

std::string MethodBeside(const PlanAccount& account) {
  return account.candidate->method == account.name ? "" : account.candidate->method + ", ";
}

std::string TypesOf(const ComputationGraph& graph, const std::vector<OpId>& group) {
  std::vector<std::string> types;
  for (const OpId op : group) {
    const std::string& type = NameOfType(graph.op(op));
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return fmt::format("{}", fmt::join(types, " + "));
}

std::string MainTypeOf(const ComputationGraph& graph, const std::vector<OpId>& group) {
  const OpId main = *std::max_element(group.begin(), group.end(),
                                      [&graph](OpId a, OpId b) { return Weight(graph.op(a)) < Weight(graph.op(b)); });
  return NameOfType(graph.op(main));
}

}  // namespace millrace
