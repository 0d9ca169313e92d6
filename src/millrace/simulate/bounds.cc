// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/bounds.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace millrace {
namespace {

constexpr double kCannotRun = std::numeric_limits<double>::infinity();

// The two terms, for nodes in topological order: `seconds` is by node * devices + device.
template <typename Successors>
double BoundOf(std::span<const std::int32_t> order, const std::vector<double>& seconds, const Topology& topology,
               Successors successors) {
  const auto devices = static_cast<std::size_t>(topology.num_devices);
  std::vector<double> path(order.size(), 0.0);
  double critical = 0;
  double unit_seconds = 0;
  for (const std::int32_t node : order) {
    double fastest = kCannotRun;
    double least_work = kCannotRun;
    for (std::size_t device = 0; device < devices; ++device) {
      const double here = seconds[static_cast<std::size_t>(node) * devices + device];
      fastest = std::min(fastest, here);
      least_work = std::min(least_work, here * topology.UnitsOf(static_cast<int>(device)));
    }
    unit_seconds += least_work;
    const double finish = path[static_cast<std::size_t>(node)] + fastest;
    critical = std::max(critical, finish);
    successors(node, [&](std::int32_t next) {
      path[static_cast<std::size_t>(next)] = std::max(path[static_cast<std::size_t>(next)], finish);
    });
  }
  return std::max(critical, unit_seconds / topology.num_units);
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
  return BoundOf(costed.topological_order, costed.seconds, costed.topology,
                 [&costed](std::int32_t group, const auto& visit) {
                   for (const GroupEdge& edge : costed.Successors(group)) visit(edge.group);
                 });
}

double FusionFreeBound(const ComputationGraph& graph, const Machine& machine) {
  return BoundOf(graph.topological_order(), LeastSeconds(graph, machine), MakeTopology(machine),
                 [&graph](std::int32_t op, const auto& visit) {
                   for (const OpId successor : graph.Successors(op)) visit(successor);
                 });
}

double Gap(double makespan, double bound) { return bound > 0 ? (makespan - bound) / bound : 0.0; }

}  // namespace millrace
