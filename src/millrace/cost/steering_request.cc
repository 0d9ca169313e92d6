// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/steering_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/graph/op_names.h"

namespace millrace {
namespace {

std::string Quoted(std::string_view text) { return "'" + Shown(text) + "'"; }

std::optional<std::int32_t> DeviceNamed(const Machine& machine, std::string_view name) {
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    if (machine.devices[device].name == name) return static_cast<std::int32_t>(device);
  }
  return std::nullopt;
}

std::int32_t PinnedDevice(const Machine& machine, const std::string& words) {
  if (const std::optional<std::int32_t> device = DeviceNamed(machine, words)) return *device;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), number);
  if (error == std::errc() && end == words.data() + words.size() && number < machine.devices.size())
    return static_cast<std::int32_t>(number);
  std::string names;
  constexpr std::size_t kMostNames = 16;
  for (std::size_t device = 0; device < std::min(kMostNames, machine.devices.size()); ++device)
    names += (names.empty() ? "" : ", ") + Shown(machine.devices[device].name);
  if (machine.devices.size() > kMostNames) names += ", ...";
  throw InvalidInput(
      fmt::format("--pin: machine '{}' has no device {}; it has {}", Shown(machine.name), Quoted(words), names));
}

std::vector<OpId> OpsOf(const ComputationGraph& graph, const char* flag, const std::string& pattern) {
  std::vector<OpId> ops = OpsNamed(graph, pattern);
  if (ops.empty()) throw InvalidInput(fmt::format("{}: no op's name matches {}", flag, Quoted(pattern)));
  return ops;
}

// By op: is it among those to keep?
std::vector<char> OpsToKeep(const ComputationGraph& graph, const std::vector<std::string>& patterns) {
  constexpr const char* kFlag = "--keep-ops";
  const auto takes_out = [](const std::string& pattern) { return pattern.starts_with('!'); };
  const bool all = std::all_of(patterns.begin(), patterns.end(), takes_out);
  std::vector<char> kept(static_cast<std::size_t>(graph.num_ops()), static_cast<char>(all));
  for (const std::string& pattern : patterns) {
    if (takes_out(pattern)) continue;
    for (const OpId op : OpsOf(graph, kFlag, pattern)) kept[static_cast<std::size_t>(op)] = 1;
  }
  return kept;
}

// By op: does it set its group free?
std::vector<char> OpsToFree(const ComputationGraph& graph, const std::vector<std::string>& patterns) {
  std::vector<char> freed(static_cast<std::size_t>(graph.num_ops()), 0);
  for (const std::string& pattern : patterns) {
    if (!pattern.starts_with('!')) continue;
    for (const OpId op : OpsOf(graph, "--keep-ops", pattern.substr(1))) freed[static_cast<std::size_t>(op)] = 1;
  }
  return freed;
}

void Keep(const ComputationGraph& graph, const Machine& machine, const KeptPlan& kept, Steering& steering) {
  const std::vector<char> wanted = OpsToKeep(graph, kept.patterns);
  const std::vector<char> freed = OpsToFree(graph, kept.patterns);
  const auto any_of = [](const std::vector<OpId>& group, const std::vector<char>& ops) {
    return std::any_of(group.begin(), group.end(), [&ops](OpId op) { return ops[static_cast<std::size_t>(op)] != 0; });
  };
  const Plan& plan = kept.record.plan;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const std::vector<OpId>& group = plan.groups[g];
    if (!any_of(group, wanted) || any_of(group, freed)) continue;
    const std::string& name = kept.record.machine.devices[static_cast<std::size_t>(plan.placement[g])].name;
    const std::optional<std::int32_t> device = DeviceNamed(machine, name);
    if (!device) {
      throw InvalidInput(fmt::format("--keep: op {} is on device {}, which machine '{}' does not have",
                                     Quoted(graph.op(group.front()).name), Quoted(name), Shown(machine.name)));
    }
    for (const OpId op : group) steering.device_of[static_cast<std::size_t>(op)] = *device;
    steering.kept.push_back(group);
  }
}

}  // namespace

Pin ParsePin(std::string_view words) {
  const std::size_t equals = words.rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == words.size())
    throw InvalidInput(fmt::format("--pin takes PATTERN=DEVICE, as in 'attention*=gpu0', not {}", Quoted(words)));
  return {std::string(words.substr(0, equals)), std::string(words.substr(equals + 1))};
}

Steering MakeSteering(const ComputationGraph& graph, const Machine& machine, const std::vector<Pin>& pins,
                      const std::optional<KeptPlan>& kept) {
  Steering steering;
  if (pins.empty() && !kept) return steering;
  steering.device_of.assign(static_cast<std::size_t>(graph.num_ops()), -1);
  if (kept) Keep(graph, machine, *kept, steering);
  std::vector<const Pin*> pinned_by(steering.device_of.size(), nullptr);
  const auto device_name = [&machine](std::int32_t device) {
    return Quoted(machine.devices[static_cast<std::size_t>(device)].name);
  };
  for (const Pin& pin : pins) {
    const std::int32_t device = PinnedDevice(machine, pin.device);
    for (const OpId op : OpsOf(graph, "--pin", pin.pattern)) {
      std::int32_t& own = steering.device_of[static_cast<std::size_t>(op)];
      const Pin*& by = pinned_by[static_cast<std::size_t>(op)];
      if (own >= 0 && own != device) {
        const std::string name = Quoted(graph.op(op).name);
        if (by == nullptr)
          throw InvalidInput(
              fmt::format("op {} is pinned to {} by {}, but --keep holds it on {}; take it out of what is "
                          "kept with --keep-ops '!PATTERN'",
                          name, device_name(device), Quoted(pin.pattern), device_name(own)));
        throw InvalidInput(fmt::format("op {} is pinned to {} by {} and to {} by {}", name, device_name(own),
                                       Quoted(by->pattern), device_name(device), Quoted(pin.pattern)));
      }
      own = device;
      by = &pin;
    }
  }
  return steering;
}

}  // namespace millrace
