// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/trace.h"

#include <nlohmann/json.hpp>

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

Json NameEvent(const char* what, std::size_t process, int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json SliceArguments(const ComputationGraph& graph, const std::vector<OpId>& group, int number,
                    const std::string& device) {
  Json ops = Json::array();
  for (const OpId op : group) ops.push_back(graph.op(op).name);
  return {{"group", number}, {"device", device}, {"ops", ops}};
}

}  // namespace

std::string TraceJson(const ComputationGraph& graph, const Machine& machine, const std::vector<PlanAccount>& accounts) {
  const Topology topology = MakeTopology(machine);
  Json events = Json::array();
  for (std::size_t process = 0; process < accounts.size(); ++process) {
    const PlanAccount& account = accounts[process];
    events.push_back(
        NameEvent("process_name", process, 0, account.name + " (" + account.candidate->method + ", proxy)"));
    for (std::size_t device = 0; device < machine.devices.size(); ++device) {
      if (topology.UnitsOf(static_cast<int>(device)) != 1) continue;
      const std::int32_t unit = topology.device_units[static_cast<std::size_t>(topology.device_offsets[device])];
      events.push_back(NameEvent("thread_name", process, unit, machine.devices[device].name));
    }
    const Plan& plan = account.candidate->plan;
    for (const int number : plan.sequence) {
      const auto group = static_cast<std::size_t>(number);
      const auto device = static_cast<std::size_t>(plan.placement[group]);
      const double start = account.timeline.start[group];
      for (std::int32_t u = topology.device_offsets[device]; u < topology.device_offsets[device + 1]; ++u) {
        events.push_back({{"ph", "X"},
                          {"name", TypesOf(graph, plan.groups[group])},
                          {"cat", "group"},
                          {"pid", process},
                          {"tid", topology.device_units[static_cast<std::size_t>(u)]},
                          {"ts", start * 1e6},
                          {"dur", (account.timeline.finish[group] - start) * 1e6},
                          {"args", SliceArguments(graph, plan.groups[group], number, machine.devices[device].name)}});
      }
    }
  }
  const Json trace{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace millrace
