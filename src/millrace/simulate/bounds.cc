// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/bounds.h"

#include <algorithm>
#include <vector>

namespace millrace {
namespace {

// The two terms, for nodes in topological order: `fastest` and `least_work` are by node.
template <typename Successors>
double BoundOf(std::span<const std::int32_t> order, const std::vector<double>& fastest,
               const std::vector<double>& least_work, int units, Successors successors) {
  std::vector<double> path(order.size(), 0.0);
  double critical = 0;
  double unit_seconds = 0;
  for (const std::int32_t node : order) {
    unit_seconds += least_work[static_cast<std::size_t>(node)];
    const double finish = path[static_cast<std::size_t>(node)] + fastest[static_cast<std::size_t>(node)];
    critical = std::max(critical, finish);
    successors(node, [&](std::int32_t next) {
      path[static_cast<std::size_t>(next)] = std::max(path[static_cast<std::size_t>(next)], finish);
    });
  }
  return std::max(critical, unit_seconds / units);
}

// What each op costs at least on each device, however it is fused.
std::vector<double> LeastSeconds(const ComputationGraph& graph, const Machine& machine) {
  const std::size_t devices = machine.devices.size();
  std::vector<double> seconds(static_cast<std::size_t>(graph.num_ops()) * devices);
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    for (std::size_t d = 0; d < devices; ++d) {
      const Device& device = machine.devices[d];
      const StatedSeconds& stated = graph.op(op).seconds;
      double& least = seconds[static_cast<std::size_t>(op) * devices + d];
      least =
          stated.stated() ? stated.On(device.kind).value_or(kCannotRun) : graph.op(op).flops / device.flops_per_second;
    }
  }
  std::vector<double> shrunk = seconds;
  for (const GroupTime& group : graph.group_seconds()) {
    for (std::size_t d = 0; d < devices; ++d) {
      const std::optional<double> stated = group.seconds.On(machine.devices[d].kind);
      if (!stated) continue;
      double sum = 0;
      for (const OpId op : group.ops) sum += seconds[static_cast<std::size_t>(op) * devices + d];
      if (!(*stated < sum) || sum == kCannotRun) continue;
      for (const OpId op : group.ops) {
        const std::size_t at = static_cast<std::size_t>(op) * devices + d;
        shrunk[at] = std::min(shrunk[at], seconds[at] * (*stated / sum));
      }
    }
  }
  return shrunk;
}

}  // namespace

double LowerBound(const CostedGraph& costed) {
  return BoundOf(costed.topological_order, costed.fastest_seconds, costed.least_work, costed.topology.num_units,
                 [&costed](std::int32_t group, const auto& visit) {
                   for (const GroupEdge& edge : costed.Successors(group)) visit(edge.group);
                 });
}

double FusionFreeBound(const ComputationGraph& graph, const Machine& machine) {
  const Topology topology = MakeTopology(machine);
  const std::vector<double> seconds = LeastSeconds(graph, machine);
  std::vector<double> fastest(static_cast<std::size_t>(graph.num_ops()), kCannotRun);
  std::vector<double> least_work = fastest;
  for (std::size_t op = 0; op < fastest.size(); ++op) {
    for (int device = 0; device < topology.num_devices; ++device) {
      const double here =
          seconds[op * static_cast<std::size_t>(topology.num_devices) + static_cast<std::size_t>(device)];
      fastest[op] = std::min(fastest[op], here);
      least_work[op] = std::min(least_work[op], here * topology.UnitsOf(device));
    }
  }
  return BoundOf(graph.topological_order(), fastest, least_work, topology.num_units,
                 [&graph](std::int32_t op, const auto& visit) {
                   for (const OpId successor : graph.Successors(op)) visit(successor);
                 });
}

double Gap(double makespan, double bound) { return bound > 0 ? (makespan - bound) / bound : 0.0; }

}  // namespace millrace
