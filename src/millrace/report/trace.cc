// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/trace.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "millrace/report/unit_names.h"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

// Events as text at once: of a large plan they are hundreds of megabytes, and several times that as values.
class Events {
 public:
  void Add(const Json& event) {
    if (!first_) text_ += ',';
    first_ = false;
    text_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string InTrace() && {
    text_ += "]}";
    return std::move(text_);
  }

 private:
  std::string text_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
  bool first_ = true;
};

Json NameEvent(const char* what, std::size_t process, int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json SliceArguments(const ComputationGraph& graph, const std::vector<OpId>& group, int number,
                    const std::string& device) {
  Json ops = Json::array();
  for (const OpId op : group) ops.push_back(graph.op(op).name);
  return {{"group", number}, {"device", device}, {"ops", ops}};
}

// Transfers may run beside each other, so they are no slices of a thread.
void AddTransfers(const ComputationGraph& graph, const Machine& machine, const PlanAccount& account,
                  std::size_t process, Events& events) {
  const Plan& plan = account.candidate->plan;
  int id = 0;
  for (const TracedTransfer& transfer : account.explanation.traced.transfers) {
    const auto producer = static_cast<std::size_t>(transfer.producer);
    const auto device = [&machine](int number) { return machine.devices[static_cast<std::size_t>(number)].name; };
    Json event{{"ph", "b"},
               {"name", "transfer " + device(plan.placement[producer]) + " to " + device(transfer.to)},
               {"cat", "transfer"},
               {"id", ++id},
               {"pid", process},
               {"tid", 0},
               {"ts", transfer.begin * 1e6},
               {"args", {{"of", graph.op(plan.groups[producer].front()).name}}}};
    events.Add(event);
    event["ph"] = "e";
    event["ts"] = transfer.end * 1e6;
    event.erase("args");
    events.Add(event);
  }
}

// A counter for each memory. Of very many steps the largest of each of some thousand stretches.
void AddMemory(const PlanAccount& account, const std::vector<std::string>& names, std::size_t process, Events& events) {
  constexpr std::size_t kMostSteps = 4000;
  for (std::size_t memory = 0; memory < account.memory.size(); ++memory) {
    const MemoryUse& use = account.memory[memory];
    const std::size_t together = use.times.size() / kMostSteps + 1;
    for (std::size_t i = 0; i < use.times.size(); i += together) {
      const auto begin = use.bytes.begin() + static_cast<std::ptrdiff_t>(i);
      const double most = *std::max_element(begin, use.bytes.end() - begin > static_cast<std::ptrdiff_t>(together)
                                                       ? begin + static_cast<std::ptrdiff_t>(together)
                                                       : use.bytes.end());
      events.Add({{"ph", "C"},
                  {"name", names[memory]},
                  {"pid", process},
                  {"ts", use.times[i] * 1e6},
                  {"args", {{"bytes", most}}}});
    }
  }
}

}  // namespace

std::string TraceJson(const ComputationGraph& graph, const Machine& machine, std::span<const PlanAccount> accounts) {
  const Topology topology = MakeTopology(machine);
  const std::vector<std::string> units = UnitNames(machine, topology);
  Events events;
  for (std::size_t process = 0; process < accounts.size(); ++process) {
    const PlanAccount& account = accounts[process];
    events.Add(
        NameEvent("process_name", process, 0, account.name + " (" + account.candidate->method + "), " + account.shown));
    for (std::size_t unit = 0; unit < units.size(); ++unit)
      events.Add(NameEvent("thread_name", process, static_cast<int>(unit), units[unit]));
    const Plan& plan = account.candidate->plan;
    for (const int number : plan.sequence) {
      const auto group = static_cast<std::size_t>(number);
      const auto device = static_cast<std::size_t>(plan.placement[group]);
      const double start = account.timeline.start[group];
      for (std::int32_t u = topology.device_offsets[device]; u < topology.device_offsets[device + 1]; ++u) {
        events.Add({{"ph", "X"},
                    {"name", TypesOf(graph, plan.groups[group])},
                    {"cat", "group"},
                    {"pid", process},
                    {"tid", topology.device_units[static_cast<std::size_t>(u)]},
                    {"ts", start * 1e6},
                    {"dur", (account.timeline.finish[group] - start) * 1e6},
                    {"args", SliceArguments(graph, plan.groups[group], number, machine.devices[device].name)}});
      }
    }
    AddTransfers(graph, machine, account, process, events);
    AddMemory(account, MemoryNames(machine, topology), process, events);
  }
  return std::move(events).InTrace();
}

}  // namespace millrace
