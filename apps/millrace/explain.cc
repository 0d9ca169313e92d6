// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/limits.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/graph/op_names.h"
#include "millrace/report/account.h"
#include "millrace/report/explanation.h"
#include "millrace/report/readable.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/proven_bound.h"
#include "millrace/verb.h"

// millrace explain: why a plan takes as long as it does.
namespace millrace::cli {
namespace {

struct ExplainOptions {
  std::string graph;
  std::string machine;
  std::string plan;
  std::string op;  // pattern; empty: the groups that compute longest on the critical path
  std::optional<Proxy> proxy;
  std::size_t top = 8;
};

struct Explained {
  const ComputationGraph& graph;
  PlanRecord record;
  CostedGraph costed;
  Assignment assignment;
  PlanExplanation explanation;
  double proven_bound = 0;

  const std::string& DeviceName(int device) const {
    return record.machine.devices[static_cast<std::size_t>(device)].name;
  }
  int DeviceOf(int group) const { return assignment.placement[static_cast<std::size_t>(group)]; }

  // A group by its first op, as people look for it.
  std::string NameOf(int group) const {
    const std::vector<OpId>& ops = costed.groups[static_cast<std::size_t>(group)];
    std::string name = graph.ops()[static_cast<std::size_t>(ops.front())].name;
    if (ops.size() > 1) name += fmt::format(" + {}", ops.size() - 1);
    return name;
  }

  StartReason ReasonOf(int group) const { return explanation.traced.reasons[static_cast<std::size_t>(group)]; }
  double StartOf(int group) const { return explanation.traced.timeline.start[static_cast<std::size_t>(group)]; }
  double FinishOf(int group) const { return explanation.traced.timeline.finish[static_cast<std::size_t>(group)]; }
};

Explained ExplainPlan(const ComputationGraph& graph, PlanRecord record) {
  CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, record.machine, record.proxy), record.plan.groups);
  Assignment assignment{record.plan.placement, record.plan.sequence};
  PlanExplanation explanation = millrace::Explain(costed, assignment);
  const double bound = ProvenBoundFor(costed, FitsInMemory(costed, assignment));
  return {graph, std::move(record), std::move(costed), std::move(assignment), std::move(explanation), bound};
}

std::vector<int> GroupsToExplain(const Explained& explained, const ExplainOptions& options) {
  if (options.op.empty()) return MostCriticalGroups(explained.explanation, options.top);
  std::vector<int> groups;
  for (std::size_t group = 0; group < explained.costed.groups.size(); ++group) {
    const std::vector<OpId>& ops = explained.costed.groups[group];
    const auto matches = [&](OpId op) { return NameMatches(options.op, explained.graph.op(op).name); };
    if (std::any_of(ops.begin(), ops.end(), matches)) groups.push_back(static_cast<int>(group));
  }
  if (groups.empty()) throw InvalidInput("no op's name matches '" + options.op + "'; millrace inspect lists types");
  groups.resize(std::min(groups.size(), options.top));
  return groups;
}

const char* WordFor(WaitsFor what) {
  switch (what) {
    case WaitsFor::kNothing:
      return "nothing";
    case WaitsFor::kDevice:
      return "device";
    case WaitsFor::kInput:
      return "input";
    case WaitsFor::kTransfer:
      return "transfer";
  }
  return "";
}

std::string Why(const Explained& explained, int group) {
  const StartReason reason = explained.ReasonOf(group);
  if (reason.what == WaitsFor::kNothing) return "at once";
  const std::string other = explained.NameOf(reason.group);
  if (reason.what == WaitsFor::kDevice) return fmt::format("after {} has left the device", other);
  if (reason.what == WaitsFor::kInput) return fmt::format("when {} has made its input", other);
  const TracedTransfer& transfer = explained.explanation.traced.transfers[static_cast<std::size_t>(reason.transfer)];
  std::string why = fmt::format("when the tensor of {} has come from {}, {} after it was made", other,
                                explained.DeviceName(explained.DeviceOf(reason.group)),
                                ReadableSeconds(transfer.end - explained.FinishOf(reason.group)));
  const double queued = transfer.begin - explained.FinishOf(reason.group);
  if (queued > 0) why += fmt::format(", {} of it behind other transfers", ReadableSeconds(queued));
  return why;
}

std::optional<double> IfFinite(double seconds) { return seconds < kCannotRun ? std::optional(seconds) : std::nullopt; }

nlohmann::ordered_json OrNull(std::optional<double> seconds) {
  return seconds ? nlohmann::ordered_json(*seconds) : nlohmann::ordered_json();
}

nlohmann::ordered_json GroupJson(const Explained& explained, int group) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const OpId op : explained.costed.groups[static_cast<std::size_t>(group)])
    names.push_back(explained.graph.ops()[static_cast<std::size_t>(op)].name);
  const StartReason reason = explained.ReasonOf(group);
  nlohmann::ordered_json json = {{"group", group},
                                 {"ops", std::move(names)},
                                 {"device", explained.DeviceOf(group)},
                                 {"start", explained.StartOf(group)},
                                 {"finish", explained.FinishOf(group)},
                                 {"waits_for", WordFor(reason.what)}};
  if (reason.group >= 0) json["waits_for_group"] = reason.group;
  if (reason.transfer >= 0) {
    const TracedTransfer& transfer = explained.explanation.traced.transfers[static_cast<std::size_t>(reason.transfer)];
    json["transfer_begin"] = transfer.begin;
    json["transfer_end"] = transfer.end;
  }
  nlohmann::ordered_json on = nlohmann::ordered_json::array();
  for (const WhatIf& moved : WhatIfMoved(explained.costed, explained.assignment, group))
    on.push_back({{"finish", OrNull(IfFinite(moved.finish))},
                  {"makespan_seconds", OrNull(IfFinite(moved.makespan))},
                  {"fits_in_memory", moved.fits}});
  json["on_device"] = std::move(on);
  return json;
}

void PrintAsJson(const Explained& explained, const std::vector<int>& groups) {
  const PlanExplanation& explanation = explained.explanation;
  nlohmann::ordered_json path = nlohmann::ordered_json::array();
  for (const CriticalStep& step : explanation.path) {
    nlohmann::ordered_json json = {{"what", step.transfer < 0 ? "group" : "transfer"},
                                   {"group", step.group},
                                   {"device", explained.DeviceOf(step.group)},
                                   {"start", step.begin},
                                   {"finish", step.end}};
    if (step.transfer >= 0)
      json["to_device"] = explanation.traced.transfers[static_cast<std::size_t>(step.transfer)].to;
    path.push_back(std::move(json));
  }
  nlohmann::ordered_json in_detail = nlohmann::ordered_json::array();
  for (const int group : groups) in_detail.push_back(GroupJson(explained, group));
  PrintJson({{"makespan_seconds", explanation.traced.timeline.makespan},
             {"proxy", NameOf(explained.record.proxy)},
             {"proven_bound_seconds", explained.proven_bound},
             {"path_computing_seconds", explanation.path_busy},
             {"path_transfer_seconds", explanation.path_transfers},
             {"path_queue_seconds", explanation.path_queues},
             {"busy_seconds", explanation.busy},
             {"transferred_bytes", explanation.transferred_bytes},
             {"critical_path", std::move(path)},
             {"groups", std::move(in_detail)}});
}

std::string Share(double part, double whole) { return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0); }

void PrintDevices(const Explained& explained) {
  const PlanExplanation& explanation = explained.explanation;
  const double makespan = explanation.traced.timeline.makespan;
  Print("\n{:<20} {:>9} {:>18}\n", "device", "busy", "on critical path");
  for (std::size_t device = 0; device < explanation.busy.size(); ++device) {
    Print("{:<20} {:>9} {:>18}\n", explained.DeviceName(static_cast<int>(device)),
          Share(explanation.busy[device], makespan), Share(explanation.path_busy[device], makespan));
  }
}

// Groups that follow each other on one device make one row.
void PrintPath(const Explained& explained) {
  constexpr int kMostRows = 30;
  const std::vector<CriticalStep>& path = explained.explanation.path;
  Print("\ncritical path, from the beginning to the last finish\n{:>12} {:>12}  what\n", "at", "for");
  int rows = 0;
  for (std::size_t s = 0; s < path.size();) {
    const CriticalStep& first = path[s];
    const int device = explained.DeviceOf(first.group);
    if (++rows > kMostRows) {
      Print("{:>12} {:>12}  {} more steps; --json has them all\n", "...", "...", path.size() - s);
      return;
    }
    if (first.transfer >= 0) {
      const int to = explained.explanation.traced.transfers[static_cast<std::size_t>(first.transfer)].to;
      const bool read = path[s + 1].transfer < 0;
      Print("{:>12} {:>12}  the tensor of {} goes {} -> {}{}\n", ReadableSeconds(first.begin),
            ReadableSeconds(first.end - first.begin), explained.NameOf(first.group), explained.DeviceName(device),
            explained.DeviceName(to), read ? "" : ", the next one waits");
      ++s;
      continue;
    }
    std::size_t end = s + 1;
    while (end < path.size() && path[end].transfer < 0 && explained.DeviceOf(path[end].group) == device) ++end;
    const std::string last =
        end - s > 1 ? fmt::format(" .. {} ({} groups)", explained.NameOf(path[end - 1].group), end - s) : std::string();
    Print("{:>12} {:>12}  {}: {}{}\n", ReadableSeconds(first.begin), ReadableSeconds(path[end - 1].end - first.begin),
          explained.DeviceName(device), explained.NameOf(first.group), last);
    s = end;
  }
}

void PrintGroup(const Explained& explained, int group) {
  Print("\n{} ({}) on {}, {} to {}\n", explained.NameOf(group),
        TypesOf(explained.graph, explained.costed.groups[static_cast<std::size_t>(group)]),
        explained.DeviceName(explained.DeviceOf(group)), ReadableSeconds(explained.StartOf(group)),
        ReadableSeconds(explained.FinishOf(group)));
  Print("  starts {}\n", Why(explained, group));
  const std::vector<WhatIf> moved = WhatIfMoved(explained.costed, explained.assignment, group);
  for (std::size_t device = 0; device < moved.size(); ++device) {
    if (static_cast<int>(device) == explained.DeviceOf(group)) continue;
    const std::string& name = explained.DeviceName(static_cast<int>(device));
    if (moved[device].makespan >= kCannotRun) {
      Print("  cannot run on {}\n", name);
      continue;
    }
    const double change = moved[device].makespan / explained.explanation.traced.timeline.makespan - 1;
    Print("  on {} it finishes at {}, the plan takes {} ({:+.2f} %){}\n", name, ReadableSeconds(moved[device].finish),
          ReadableSeconds(moved[device].makespan), 100 * change,
          moved[device].fits ? "" : " but does not fit in memory");
  }
}

void PrintAsText(const Explained& explained, const std::vector<int>& groups) {
  const PlanExplanation& explanation = explained.explanation;
  const double makespan = explanation.traced.timeline.makespan;
  double computing = 0;
  for (const double seconds : explanation.path_busy) computing += seconds;
  Print("makespan {} by the {} proxy; no plan of these groups takes less than {}\n", ReadableSeconds(makespan),
        NameOf(explained.record.proxy), ReadableSeconds(explained.proven_bound));
  Print("of the critical path {} is computing, {} transfers, {} waiting for channels that carry others\n",
        Share(computing, makespan), Share(explanation.path_transfers, makespan),
        Share(explanation.path_queues, makespan));
  Print("{} go from memory to memory\n", ReadableBytes(explanation.transferred_bytes));
  PrintDevices(explained);
  PrintPath(explained);
  for (const int group : groups) PrintGroup(explained, group);
}

int Explain(const CommandLine& line, const ExplainOptions& options) {
  const LoadedGraph loaded = LoadWithWarnings(line, options.graph);
  PlanReading reading;
  reading.dimensions = line.common.dimensions;
  if (!options.machine.empty()) reading.machine = LoadMachine(options.machine);
  PlanRecord record = LoadPlan(options.plan, loaded.graph, reading);
  if (options.proxy) record.proxy = *options.proxy;
  const Explained explained = ExplainPlan(loaded.graph, std::move(record));
  const std::vector<int> groups = GroupsToExplain(explained, options);
  if (line.common.json) {
    PrintAsJson(explained, groups);
  } else {
    PrintAsText(explained, groups);
  }
  return 0;
}

}  // namespace

void AddExplain(CommandLine& line) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* verb = AddVerb(line, "explain", "Tell why a plan takes as long as it does",
                           [&line, options] { return Explain(line, *options); });
  verb->add_option("GRAPH", options->graph, "Graph or model file the plan was made for")->required();
  verb->add_option("--plan", options->plan, "Plan file, or an .onnx that carries a plan")->required();
  verb->add_option("--machine", options->machine, "Machine file or preset, in place of the one the plan names");
  verb->add_option("--op", options->op,
                   "Tell of the groups with ops of such names (* and ? stand for others), not of those that compute "
                   "longest on the critical path");
  verb->add_option("--top", options->top, "Groups to tell of, at most")->check(WholeFrom(0, 10000));
  AddProxyOption(*verb, options->proxy);
}

}  // namespace millrace::cli
