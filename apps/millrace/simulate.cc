// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/report/readable.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/simulation.h"
#include "millrace/verb.h"

// millrace simulate: the timeline of a plan under the cost model.
namespace millrace::cli {
namespace {

struct SimulateOptions {
  std::string graph;
  std::string machine;
  std::string plan;
  std::optional<Proxy> proxy;
  bool gantt = false;
};

void PrintAsJson(const PlanRecord& record, const Simulation& simulation) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (std::size_t g = 0; g < record.plan.groups.size(); ++g) {
    groups.push_back({{"start", simulation.timeline.start[g]},
                      {"finish", simulation.timeline.finish[g]},
                      {"device", record.plan.placement[g]}});
  }
  const double makespan = simulation.timeline.makespan;
  PrintJson({{"makespan_seconds", makespan},
             {"proxy", NameOf(record.proxy)},
             {"feasible", simulation.feasible},
             {"peak_memory_bytes", simulation.peak_memory},
             {"groups", std::move(groups)},
             {"lower_bound_seconds", simulation.lower_bound},
             {"gap", Gap(makespan, simulation.lower_bound)},
             {"proven_bound_seconds", simulation.proven_bound},
             {"proven_gap", Gap(makespan, simulation.proven_bound)},
             {"fragility", simulation.fragility}});
}

void PrintDevices(const PlanRecord& record, const Simulation& simulation) {
  const std::size_t devices = record.machine.devices.size();
  std::vector<double> busy(devices, 0.0);
  std::vector<int> groups(devices, 0);
  for (std::size_t g = 0; g < record.plan.groups.size(); ++g) {
    const auto device = static_cast<std::size_t>(record.plan.placement[g]);
    busy[device] += simulation.timeline.finish[g] - simulation.timeline.start[g];
    ++groups[device];
  }
  const double makespan = simulation.timeline.makespan;
  Print("{:<20} {:>8} {:>8} {:>14} {:>14}\n", "device", "groups", "busy", "peak bytes", "memory bytes");
  for (std::size_t d = 0; d < devices; ++d) {
    const Device& device = record.machine.devices[d];
    Print("{:<20} {:>8} {:>6.1f} % {:>14.6g} {:>14}\n", device.name, groups[d],
          makespan > 0 ? 100 * busy[d] / makespan : 0.0, simulation.peak_memory[d],
          device.memory_bytes ? fmt::format("{:.6g}", *device.memory_bytes) : "unlimited");
  }
}

// A row per device, a column per hundredth of the makespan: '#' busy for most of it, '-' for some.
void PrintGantt(const PlanRecord& record, const Simulation& simulation) {
  constexpr std::size_t kColumns = 100;
  const double column = simulation.timeline.makespan / kColumns;
  if (!(column > 0)) return;
  const std::size_t devices = record.machine.devices.size();
  std::vector<std::vector<double>> busy(devices, std::vector<double>(kColumns, 0.0));
  for (std::size_t g = 0; g < record.plan.groups.size(); ++g) {
    std::vector<double>& row = busy[static_cast<std::size_t>(record.plan.placement[g])];
    const double start = simulation.timeline.start[g] / column;
    const double finish = simulation.timeline.finish[g] / column;
    for (auto c = static_cast<std::size_t>(start); c < kColumns && static_cast<double>(c) < finish; ++c) {
      const auto from = static_cast<double>(c);
      row[c] += std::min(finish, from + 1) - std::max(start, from);
    }
  }
  for (std::size_t d = 0; d < devices; ++d) {
    std::string row;
    for (const double share : busy[d]) row += share > 0.5 ? '#' : share > 0 ? '-' : '.';
    Print("{:<20} {}\n", record.machine.devices[d].name, row);
  }
}

int Simulate(const CommandLine& line, const SimulateOptions& options) {
  const LoadedGraph loaded = LoadWithWarnings(line, options.graph);
  PlanReading reading;
  reading.dimensions = line.common.dimensions;
  if (!options.machine.empty()) reading.machine = LoadMachine(options.machine);
  PlanRecord record = LoadPlan(options.plan, loaded.graph, reading);
  if (options.proxy) record.proxy = *options.proxy;
  const Simulation simulation = millrace::Simulate(loaded.graph, record);
  if (line.common.json) {
    PrintAsJson(record, simulation);
    return 0;
  }
  const double makespan = simulation.timeline.makespan;
  Print("makespan {}, at most {} % above the best: no plan of these groups takes less than {}\n",
        ReadableSeconds(makespan), ReadableNumber(100 * Gap(makespan, simulation.proven_bound), 1),
        ReadableSeconds(simulation.proven_bound));
  Print("where devices run whatever is ready first it takes {} times as long\n",
        ReadableNumber(simulation.fragility, 3));
  if (!simulation.feasible) Print("does not fit in memory\n");
  PrintDevices(record, simulation);
  if (options.gantt) PrintGantt(record, simulation);
  return 0;
}

}  // namespace

void AddSimulate(CommandLine& line) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* verb = AddVerb(line, "simulate", "Show the timeline of a plan under the cost model",
                           [&line, options] { return Simulate(line, *options); });
  verb->add_option("GRAPH", options->graph, "Graph or model file the plan was made for")->required();
  verb->add_option("--machine", options->machine, "Machine file or preset, in place of the one the plan names");
  verb->add_option("--plan", options->plan, "Plan file, or an .onnx that carries a plan")->required();
  AddProxyOption(*verb, options->proxy);
  verb->add_flag("--gantt", options->gantt, "Also draw when each device is busy");
}

}  // namespace millrace::cli
