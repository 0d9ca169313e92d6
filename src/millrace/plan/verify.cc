// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "millrace/errors/errors.h"
#include "millrace/graph/reachability.h"
#include "millrace/plan/fusion_table.h"
#include "millrace/plan/hash.h"

namespace millrace {
namespace {

std::vector<int> GroupOfOps(const ComputationGraph& graph, const FusionGroups& groups) {
  std::vector<int> group_of(static_cast<std::size_t>(graph.num_ops()), -1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const OpId op : groups[g]) group_of[static_cast<std::size_t>(op)] = static_cast<int>(g);
  }
  return group_of;
}

// Seconds stated for the group as a whole, by the place of the group; null where there are none.
std::vector<const StatedSeconds*> StatedForGroups(const ComputationGraph& graph, const FusionGroups& groups) {
  std::map<std::vector<OpId>, const StatedSeconds*> entries;
  for (const GroupTime& entry : graph.group_seconds()) entries[entry.ops] = &entry.seconds;
  std::vector<const StatedSeconds*> stated(groups.size(), nullptr);
  if (entries.empty()) return stated;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<OpId> key = groups[g];
    std::sort(key.begin(), key.end());
    const auto found = entries.find(key);
    if (found != entries.end()) stated[g] = found->second;
  }
  return stated;
}

std::optional<std::string> WhyNotPlaced(const ComputationGraph& graph, const Machine& machine, const Plan& plan) {
  const int devices = static_cast<int>(machine.devices.size());
  std::unordered_map<std::string_view, int> device_of;
  const std::vector<const StatedSeconds*> stated = StatedForGroups(graph, plan.groups);
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const int device = plan.placement[g];
    if (device < 0 || device >= devices)
      return fmt::format("group {} is placed on device {}; the machine has devices 0..{}", g, device, devices - 1);
    const std::string& kind = machine.devices[static_cast<std::size_t>(device)].kind;
    if (stated[g] != nullptr && !stated[g]->On(kind)) {
      return fmt::format("group {}: its group_seconds name no time on a device of kind '{}', so it cannot run there", g,
                         kind);
    }
    for (const OpId id : plan.groups[g]) {
      const Op& op = graph.op(id);
      if (op.seconds.stated() && !op.seconds.On(kind))
        return fmt::format("group {}: op {} '{}' cannot run on a device of kind '{}'", g, id, op.name, kind);
      if (op.colocate.empty()) continue;
      const auto [entry, first] = device_of.emplace(op.colocate, device);
      if (entry->second != device) {
        return fmt::format("group {}: op {} '{}' must share a device with the other ops of '{}'", g, id, op.name,
                           op.colocate);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> WhyNotSequenced(const ComputationGraph& graph, const Plan& plan) {
  const std::size_t groups = plan.groups.size();
  if (plan.sequence.size() != groups) {
    return "the sequence lists " + std::to_string(plan.sequence.size()) + " groups of " + std::to_string(groups);
  }
  std::vector<int> position(groups, -1);
  for (std::size_t i = 0; i < groups; ++i) {
    const int group = plan.sequence[i];
    if (group < 0 || static_cast<std::size_t>(group) >= groups)
      return "the sequence names group " + std::to_string(group) + ", which does not exist";
    if (position[static_cast<std::size_t>(group)] >= 0)
      return "the sequence names group " + std::to_string(group) + " twice";
    position[static_cast<std::size_t>(group)] = static_cast<int>(i);
  }
  const std::vector<int> group_of = GroupOfOps(graph, plan.groups);
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    const int own = group_of[static_cast<std::size_t>(op)];
    for (const OpId predecessor : graph.Predecessors(op)) {
      const int other = group_of[static_cast<std::size_t>(predecessor)];
      if (other != own && position[static_cast<std::size_t>(other)] > position[static_cast<std::size_t>(own)]) {
        return "the sequence runs group " + std::to_string(own) + " before group " + std::to_string(other) +
               ", whose tensor it reads";
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyNotGroups(const ComputationGraph& graph, const FusionGroups& groups) {
  std::vector<char> seen(static_cast<std::size_t>(graph.num_ops()), 0);
  std::size_t covered = 0;
  Reachability reachability(graph);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const OpId op : groups[g]) {
      if (op < 0 || op >= graph.num_ops()) {
        return "group " + std::to_string(g) + " names op " + std::to_string(op) + "; the graph has ops 0.." +
               std::to_string(graph.num_ops() - 1);
      }
      if (seen[static_cast<std::size_t>(op)]++ != 0) {
        return "group " + std::to_string(g) + " names op " + std::to_string(op) + " '" + graph.op(op).name +
               "', which is already in a group";
      }
      ++covered;
    }
    if (const auto why = WhyNotFusible(graph, reachability, groups[g]))
      return "group " + std::to_string(g) + " is not legal: " + *why;
  }
  if (covered == seen.size()) return std::nullopt;
  std::size_t missing = 0;
  while (seen[missing] != 0) ++missing;
  return "op " + std::to_string(missing) + " '" + graph.op(static_cast<OpId>(missing)).name + "' is in no group";
}

std::optional<std::string> WhyNotValid(const ComputationGraph& graph, const Machine& machine, const Plan& plan) {
  if (auto why = WhyNotGroups(graph, plan.groups)) return why;
  if (plan.placement.size() != plan.groups.size()) {
    return "the placement lists " + std::to_string(plan.placement.size()) + " devices for " +
           std::to_string(plan.groups.size()) + " groups";
  }
  if (auto why = WhyNotPlaced(graph, machine, plan)) return why;
  return WhyNotSequenced(graph, plan);
}

void VerifyPlan(const ComputationGraph& graph, const Machine& machine, const Plan& plan) {
  if (const auto why = WhyNotValid(graph, machine, plan))
    throw InvalidInput("the plan is not valid for this graph and machine: " + *why);
}

void VerifyRecord(const ComputationGraph& graph, const PlanRecord& record) {
  if (!record.graph_hash.empty() && record.graph_hash != GraphHash(graph)) {
    throw InvalidInput("the plan was made for another graph (its graph_hash is not this graph's, " + GraphHash(graph) +
                       "); make one for this graph with millrace schedule");
  }
  VerifyPlan(graph, record.machine, record.plan);
}

}  // namespace millrace
