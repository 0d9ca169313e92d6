// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/limits.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/report/compare_html.h"
#include "millrace/report/explanation.h"
#include "millrace/report/plan_difference.h"
#include "millrace/report/readable.h"
#include "millrace/verb.h"

// millrace compare: what one plan does otherwise than another, and what that is worth.
namespace millrace::cli {
namespace {

struct CompareOptions {
  std::string graph;
  std::string machine;
  std::string plan, with;
  std::string html;
  std::optional<Proxy> proxy;
  std::size_t top = 10;
};

// A plan as the comparison sees it.
struct Side {
  PlanRecord record;
  CostedGraph costed;
  PlanExplanation explanation;

  double Makespan() const { return explanation.traced.timeline.makespan; }
  double PathComputing() const {
    return std::accumulate(explanation.path_busy.begin(), explanation.path_busy.end(), 0.0);
  }
};

struct Comparison {
  const ComputationGraph& graph;
  Side a, b;
  PlanDifference difference;
};

Side SideOf(const ComputationGraph& graph, PlanRecord record) {
  Side side;
  side.costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, record.machine, record.proxy), record.plan.groups);
  side.explanation = millrace::Explain(side.costed, {record.plan.placement, record.plan.sequence});
  side.record = std::move(record);
  return side;
}

nlohmann::ordered_json SideJson(const Side& side) {
  return {{"method", side.record.method},
          {"makespan_seconds", side.Makespan()},
          {"groups", side.record.plan.groups.size()},
          {"busy_seconds", side.explanation.busy},
          {"path_computing_seconds", side.PathComputing()},
          {"path_transfer_seconds", side.explanation.path_transfers},
          {"path_queue_seconds", side.explanation.path_queues},
          {"transferred_bytes", side.explanation.transferred_bytes}};
}

void PrintAsJson(const Comparison& comparison) {
  nlohmann::ordered_json moved = nlohmann::ordered_json::array();
  for (const MovedOps& cluster : comparison.difference.moved) {
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const OpId op : cluster.ops) names.push_back(comparison.graph.ops()[static_cast<std::size_t>(op)].name);
    moved.push_back(
        {{"ops", std::move(names)},
         {"from_device", cluster.from},
         {"to_device", cluster.to},
         {"makespan_if_back_seconds",
          cluster.makespan_if_back ? nlohmann::ordered_json(*cluster.makespan_if_back) : nlohmann::ordered_json()}});
  }
  PrintJson({{"proxy", NameOf(comparison.a.record.proxy)},
             {"plan", SideJson(comparison.a)},
             {"with", SideJson(comparison.b)},
             {"moved_ops", comparison.difference.moved_ops},
             {"regrouped_ops", comparison.difference.regrouped_ops},
             {"moved", std::move(moved)}});
}

void PrintTable(const Comparison& comparison) {
  const auto row = [&comparison](const std::string& name, auto&& value) {
    Print("{:<28} {:>14} {:>14}\n", name, value(comparison.a), value(comparison.b));
  };
  Print("{:<28} {:>14} {:>14}\n", "", "plan", "with");
  row("makespan", [](const Side& side) { return ReadableSeconds(side.Makespan()); });
  row("groups", [](const Side& side) { return std::to_string(side.record.plan.groups.size()); });
  row("critical path: computing", [](const Side& side) { return ReadableSeconds(side.PathComputing()); });
  row("critical path: transfers", [](const Side& side) { return ReadableSeconds(side.explanation.path_transfers); });
  row("critical path: full channels", [](const Side& side) { return ReadableSeconds(side.explanation.path_queues); });
  row("sent from memory to memory", [](const Side& side) { return ReadableBytes(side.explanation.transferred_bytes); });
  for (std::size_t device = 0; device < comparison.a.record.machine.devices.size(); ++device) {
    row("busy: " + comparison.a.record.machine.devices[device].name,
        [device](const Side& side) { return ReadableSeconds(side.explanation.busy[device]); });
  }
}

void PrintMoved(const Comparison& comparison, const MovedOps& cluster) {
  const std::vector<Device>& devices = comparison.a.record.machine.devices;
  const auto name = [&comparison](OpId op) { return comparison.graph.ops()[static_cast<std::size_t>(op)].name; };
  std::string ops = name(cluster.ops.front());
  if (cluster.ops.size() > 1) ops += fmt::format(" .. {} ({} ops)", name(cluster.ops.back()), cluster.ops.size());
  Print("{} -> {}: {}\n", devices[static_cast<std::size_t>(cluster.from)].name,
        devices[static_cast<std::size_t>(cluster.to)].name, ops);
  if (!cluster.makespan_if_back) return;
  const double change = *cluster.makespan_if_back / comparison.b.Makespan() - 1;
  Print("  put back, the second plan takes {} ({:+.2f} %)\n", ReadableSeconds(*cluster.makespan_if_back), 100 * change);
}

void PrintAsText(const Comparison& comparison, std::size_t top) {
  const double a = comparison.a.Makespan(), b = comparison.b.Makespan();
  if (a == b) {
    Print("both plans take {} by the {} proxy\n\n", ReadableSeconds(a), NameOf(comparison.a.record.proxy));
  } else {
    Print("the {} plan takes {} % less time by the {} proxy\n\n", b < a ? "second" : "first",
          ReadableNumber(100 * (1 - std::min(a, b) / std::max(a, b)), 2), NameOf(comparison.a.record.proxy));
  }
  PrintTable(comparison);
  const PlanDifference& difference = comparison.difference;
  Print("\n{} of {} ops are on another device, {} are fused with other ops\n", difference.moved_ops,
        comparison.graph.ops().size(), difference.regrouped_ops);
  for (std::size_t m = 0; m < std::min(top, difference.moved.size()); ++m) PrintMoved(comparison, difference.moved[m]);
  if (difference.moved.size() > top) Print("{} more such moves; --json has them all\n", difference.moved.size() - top);
}

void WritePage(const Comparison& comparison, const std::string& path) {
  const auto candidate = [](const PlanRecord& record) {
    Candidate one;
    one.plan = record.plan;
    one.method = record.method.empty() ? "unknown method" : record.method;
    one.proxy_seconds = record.proxy_seconds;
    one.target_seconds = record.target_seconds;
    return one;
  };
  const Candidate plan = candidate(comparison.a.record), with = candidate(comparison.b.record);
  WriteFileAtomically(path, CompareHtml({comparison.graph, comparison.a.record.machine, plan, with,
                                         comparison.a.record.proxy, comparison.difference}));
}

int Compare(const CommandLine& line, const CompareOptions& options) {
  const LoadedGraph loaded = LoadWithWarnings(line, options.graph);
  PlanReading reading;
  reading.dimensions = line.common.dimensions;
  if (!options.machine.empty()) reading.machine = LoadMachine(options.machine);
  PlanRecord first = LoadPlan(options.plan, loaded.graph, reading);
  PlanRecord second = LoadPlan(options.with, loaded.graph, reading);
  if (!(first.machine == second.machine)) {
    throw InvalidInput(
        fmt::format("{} is for another machine than {}; name one for both with --machine", options.with, options.plan));
  }
  first.proxy = second.proxy = options.proxy.value_or(first.proxy);
  Side a = SideOf(loaded.graph, std::move(first));
  Side b = SideOf(loaded.graph, std::move(second));
  PlanDifference difference = DifferenceOf(loaded.graph, a.record.plan, b.record.plan, b.costed);
  const Comparison comparison{loaded.graph, std::move(a), std::move(b), std::move(difference)};
  if (!options.html.empty()) WritePage(comparison, options.html);
  if (line.common.json) {
    PrintAsJson(comparison);
    return 0;
  }
  PrintAsText(comparison, options.top);
  if (!options.html.empty()) Print("\npage written to {}\n", options.html);
  return 0;
}

}  // namespace

void AddCompare(CommandLine& line) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* verb = AddVerb(line, "compare", "Tell what one plan does otherwise than another, and what that is worth",
                           [&line, options] { return Compare(line, *options); });
  verb->add_option("GRAPH", options->graph, "Graph or model file the plans were made for")->required();
  verb->add_option("--plan", options->plan, "Plan file, or an .onnx that carries a plan")->required();
  verb->add_option("--with", options->with, "The other plan")->required();
  verb->add_option("--machine", options->machine, "Machine file or preset, in place of the one the plans name");
  verb->add_option("--html", options->html, "Also write a page here: both plans side by side, and what moved");
  verb->add_option("--top", options->top, "Moves to tell of, at most")->check(WholeFrom(0, 10000));
  AddProxyOption(*verb, options->proxy);
}

}  // namespace millrace::cli
