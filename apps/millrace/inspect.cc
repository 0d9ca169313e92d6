// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/inspect_kept.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/hash.h"
#include "millrace/report/readable.h"
#include "millrace/scratch_folder.h"
#include "millrace/verb.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLines = 24;  // of a table for people; the JSON has them all

// "1.5 GB", "320 B"; without a unit "1.5G", "320".
std::string Amount(double number, const char* unit = "") {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (number >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    number /= 1000;
    ++prefix;
  }
  return fmt::format("{:.4g}{}{}{}", number, *unit == '\0' ? "" : " ", kPrefixes[prefix], unit);
}

// What one op weighs in its graph's account of work.
enum class WorkUnit { kSeconds, kFlops, kOps };

const char* NameOf(WorkUnit unit) {
  return unit == WorkUnit::kSeconds ? "seconds" : unit == WorkUnit::kFlops ? "flops" : "ops";
}

WorkUnit WorkUnitOf(const ComputationGraph& graph) {
  const std::vector<Op>& ops = graph.ops();
  if (!ops.empty() && std::all_of(ops.begin(), ops.end(), [](const Op& op) { return op.seconds.stated(); }))
    return WorkUnit::kSeconds;
  return std::any_of(ops.begin(), ops.end(), [](const Op& op) { return op.flops > 0; }) ? WorkUnit::kFlops
                                                                                        : WorkUnit::kOps;
}

double LeastSeconds(const StatedSeconds& seconds) {
  if (seconds.everywhere) return *seconds.everywhere;
  double least = seconds.by_kind.front().second;
  for (const auto& [kind, value] : seconds.by_kind) least = std::min(least, value);
  return least;
}

double WorkOf(const Op& op, WorkUnit unit) {
  return unit == WorkUnit::kSeconds ? LeastSeconds(op.seconds) : unit == WorkUnit::kFlops ? op.flops : 1.0;
}

struct TypeAccount {
  std::string type;
  int ops = 0;
  double flops = 0;
  double weight_bytes = 0;
  double output_bytes = 0;
  double work = 0;
};

std::vector<TypeAccount> AccountByType(const ComputationGraph& graph, WorkUnit unit) {
  std::map<std::string, TypeAccount> by_type;
  for (OpId id = 0; id < graph.num_ops(); ++id) {
    const Op& op = graph.op(id);
    TypeAccount& account = by_type[op.type];
    account.type = op.type;
    ++account.ops;
    account.flops += op.flops;
    account.weight_bytes += op.weight_bytes;
    account.work += WorkOf(op, unit);
    for (const TensorId tensor : graph.Outputs(id)) account.output_bytes += graph.tensor(tensor).bytes;
  }
  std::vector<TypeAccount> accounts;
  accounts.reserve(by_type.size());
  for (const auto& [type, account] : by_type) accounts.push_back(account);
  std::stable_sort(accounts.begin(), accounts.end(),
                   [](const TypeAccount& a, const TypeAccount& b) { return a.work > b.work; });
  return accounts;
}

// Ops by the length of the longest path that ends in them.
struct Levels {
  int count = 0;            // the critical path's length in ops
  int widest = 0;           // ops on the fullest level
  double longest_work = 0;  // work along the heaviest path
};

Levels LevelsOf(const ComputationGraph& graph, WorkUnit unit) {
  std::vector<int> level(static_cast<std::size_t>(graph.num_ops()), 1);
  std::vector<double> work(level.size(), 0);
  std::vector<int> on_level(level.size() + 1, 0);
  Levels levels;
  for (const OpId op : graph.topological_order()) {
    const auto own = static_cast<std::size_t>(op);
    for (const OpId predecessor : graph.Predecessors(op)) {
      level[own] = std::max(level[own], level[static_cast<std::size_t>(predecessor)] + 1);
      work[own] = std::max(work[own], work[static_cast<std::size_t>(predecessor)]);
    }
    work[own] += WorkOf(graph.op(op), unit);
    levels.count = std::max(levels.count, level[own]);
    levels.widest = std::max(levels.widest, ++on_level[static_cast<std::size_t>(level[own])]);
    levels.longest_work = std::max(levels.longest_work, work[own]);
  }
  return levels;
}

Json DescribeGraph(const ComputationGraph& graph) {
  const WorkUnit unit = WorkUnitOf(graph);
  const Levels levels = LevelsOf(graph, unit);
  double flops = 0, weight_bytes = 0, work = 0, tensor_bytes = 0;
  int inputs = 0, outputs = 0, control = 0;
  std::int64_t edges = 0;
  std::set<std::string> kinds;
  for (const Op& op : graph.ops()) {
    flops += op.flops;
    weight_bytes += op.weight_bytes;
    work += WorkOf(op, unit);
    for (const auto& [kind, seconds] : op.seconds.by_kind) kinds.insert(kind);
  }
  for (const Tensor& tensor : graph.tensors()) {
    tensor_bytes += tensor.bytes;
    inputs += tensor.producer < 0;
    outputs += tensor.output;
    control += tensor.bytes == 0;
  }
  for (OpId op = 0; op < graph.num_ops(); ++op) edges += static_cast<std::int64_t>(graph.Successors(op).size());

  Json types = Json::array();
  for (const TypeAccount& account : AccountByType(graph, unit)) {
    types.push_back({{"type", account.type},
                     {"ops", account.ops},
                     {"flops", account.flops},
                     {"weight_bytes", account.weight_bytes},
                     {"output_bytes", account.output_bytes},
                     {"share", work > 0 ? account.work / work : 0.0}});
  }
  return {{"kind", "graph"},
          {"name", graph.name()},
          {"graph_hash", GraphHash(graph)},
          {"ops", graph.num_ops()},
          {"tensors", graph.num_tensors()},
          {"edges", edges},
          {"inputs", inputs},
          {"outputs", outputs},
          {"control_tensors", control},
          {"flops", flops},
          {"weight_bytes", weight_bytes},
          {"tensor_bytes", tensor_bytes},
          {"device_kinds", kinds},
          {"timed_groups", graph.group_seconds().size()},
          {"work_unit", NameOf(unit)},
          {"work", work},
          {"critical_path_work", levels.longest_work},
          {"critical_path_ops", levels.count},
          {"widest_level_ops", levels.widest},
          {"types", types}};
}

void PrintGraph(const Json& facts) {
  const auto number = [&facts](const char* member) { return facts[member].get<double>(); };
  Print("graph '{}': {} ops, {} tensors ({} inputs, {} outputs, {} of 0 bytes), {} edges\n",
        facts["name"].get<std::string>(), facts["ops"].get<int>(), facts["tensors"].get<int>(),
        facts["inputs"].get<int>(), facts["outputs"].get<int>(), facts["control_tensors"].get<int>(),
        facts["edges"].get<std::int64_t>());
  Print("  {}, {} of weights, {} of tensors; hash {}\n", Amount(number("flops"), "flops"),
        Amount(number("weight_bytes"), "B"), Amount(number("tensor_bytes"), "B"),
        facts["graph_hash"].get<std::string>());
  const double longest = number("critical_path_work");
  const std::string unit = facts["work_unit"].get<std::string>();
  const auto work = [&unit](double amount) {
    return unit == "seconds" ? ReadableSeconds(amount) : Amount(amount, unit.c_str());
  };
  Print("  work {}, along the critical path {} (parallelism {:.3g}); {} levels, the widest of {} ops\n",
        work(number("work")), work(longest), longest > 0 ? number("work") / longest : 1.0,
        facts["critical_path_ops"].get<int>(), facts["widest_level_ops"].get<int>());
  if (!facts["device_kinds"].empty()) {
    const auto kinds = facts["device_kinds"].get<std::vector<std::string>>();
    Print("  times for device kinds: {}\n", fmt::format("{}", fmt::join(kinds, ", ")));
  }
  Print("\n  {:<28}{:>8}{:>12}{:>12}{:>12}{:>9}\n", "type", "ops", "flops", "weights B", "outputs B", "share");
  std::size_t printed = 0;
  for (const Json& type : facts["types"]) {
    if (printed++ == kMostLines) {
      Print("  ... and {} more types\n", facts["types"].size() - kMostLines);
      break;
    }
    Print("  {:<28}{:>8}{:>12}{:>12}{:>12}{:>8.1f}%\n", type["type"].get<std::string>(), type["ops"].get<int>(),
          Amount(type["flops"].get<double>()), Amount(type["weight_bytes"].get<double>()),
          Amount(type["output_bytes"].get<double>()), 100 * type["share"].get<double>());
  }
}

Json DescribeMachine(const Machine& machine) {
  Json facts = Json::parse(MachineJson(machine));
  std::set<int> units;
  for (const Device& device : machine.devices) units.insert(device.units.begin(), device.units.end());
  return {{"kind", "machine"},
          {"name", machine.name},
          {"machine_hash", MachineHash(machine)},
          {"units", units.size()},
          {"devices", facts["devices"]},
          {"links", facts["links"]},
          {"sharing", NameOf(machine.sharing)},
          {"default_link", machine.default_link ? facts["default_link"] : Json()}};
}

void PrintMachine(const Machine& machine, const Json& facts) {
  Print("machine '{}': {} devices on {} units, {} links; hash {}\n\n", machine.name, machine.devices.size(),
        facts["units"].get<int>(), machine.links.size(), facts["machine_hash"].get<std::string>());
  Print("  {:>3} {:<16}{:<10}{:>12}{:>12}{:>12}{:>11}  units\n", "", "device", "kind", "flops/s", "bytes/s", "memory B",
        "launch");
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    const Device& device = machine.devices[i];
    Print("  {:>3} {:<16}{:<10}{:>12}{:>12}{:>12}{:>11}  {}\n", i, device.name, device.kind,
          Amount(device.flops_per_second), Amount(device.memory_bandwidth),
          device.memory_bytes ? Amount(*device.memory_bytes) : "any", ReadableSeconds(device.launch_seconds),
          fmt::format("{}", fmt::join(device.units, " ")));
  }
  const auto rate = [](double bandwidth) {
    return bandwidth == kUnlimitedBandwidth ? std::string("unlimited") : Amount(bandwidth, "B/s");
  };
  if (!machine.links.empty()) Print("\n");
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    if (i == kMostLines) {
      Print("  ... and {} more links\n", machine.links.size() - kMostLines);
      break;
    }
    const Link& link = machine.links[i];
    Print("  link {} -> {}: {}, {}{}{}\n", link.from, link.to, ReadableSeconds(link.latency_seconds),
          rate(link.bandwidth), link.channel ? fmt::format(", channel {}", *link.channel) : "",
          link.entry_channel ? fmt::format(", entry channel {}", *link.entry_channel) : "");
  }
  if (machine.sharing == Sharing::kFair) Print("  transfers share a channel evenly\n");
  if (machine.default_link) {
    Print("  any other pair: {}, {}\n", ReadableSeconds(machine.default_link->latency_seconds),
          rate(machine.default_link->bandwidth));
  } else {
    Print("  transfers between any other pair are free\n");
  }
}

Json DescribePlan(const PlanRecord& record) {
  const std::size_t devices = record.machine.devices.size();
  std::vector<std::int64_t> ops(devices, 0), groups(devices, 0);
  std::int64_t all_ops = 0, fused = 0;
  for (std::size_t g = 0; g < record.plan.groups.size(); ++g) {
    const auto size = static_cast<std::int64_t>(record.plan.groups[g].size());
    all_ops += size;
    fused += size > 1;
    if (g >= record.plan.placement.size()) continue;
    const int device = record.plan.placement[g];
    if (device < 0 || static_cast<std::size_t>(device) >= devices) continue;
    ops[static_cast<std::size_t>(device)] += size;
    ++groups[static_cast<std::size_t>(device)];
  }
  Json table = Json::array();
  for (std::size_t d = 0; d < devices; ++d) {
    const Device& device = record.machine.devices[d];
    table.push_back({{"name", device.name}, {"kind", device.kind}, {"groups", groups[d]}, {"ops", ops[d]}});
  }
  return {{"kind", "plan"},
          {"graph", record.graph_name},
          {"graph_hash", record.graph_hash},
          {"plan_hash", PlanHash(record.plan)},
          {"machine", record.machine.name},
          {"method", record.method},
          {"seed", record.seed},
          {"proxy", NameOf(record.proxy)},
          {"proxy_seconds", record.proxy_seconds},
          {"target_seconds", record.target_seconds ? Json(*record.target_seconds) : Json()},
          {"ops", all_ops},
          {"groups", record.plan.groups.size()},
          {"fused_groups", fused},
          {"devices", table}};
}

void PrintPlan(const Json& facts) {
  Print("plan by '{}' (seed {}) for graph '{}' on machine '{}'\n", facts["method"].get<std::string>(),
        facts["seed"].get<std::uint64_t>(), facts["graph"].get<std::string>(), facts["machine"].get<std::string>());
  Print("  proxy {}", ReadableSeconds(facts["proxy_seconds"].get<double>()));
  if (!facts["target_seconds"].is_null())
    Print(", measured {}", ReadableSeconds(facts["target_seconds"].get<double>()));
  Print("; {} ops in {} groups, {} of them of several ops; hash {}\n\n", facts["ops"].get<std::int64_t>(),
        facts["groups"].get<std::int64_t>(), facts["fused_groups"].get<std::int64_t>(),
        facts["plan_hash"].get<std::string>());
  Print("  {:>3} {:<16}{:<10}{:>10}{:>10}\n", "", "device", "kind", "groups", "ops");
  std::size_t i = 0;
  for (const Json& device : facts["devices"]) {
    Print("  {:>3} {:<16}{:<10}{:>10}{:>10}\n", i++, device["name"].get<std::string>(),
          device["kind"].get<std::string>(), device["groups"].get<std::int64_t>(), device["ops"].get<std::int64_t>());
  }
}

// Models are large; their ending tells what they are, and they are read from the file itself.
bool ReadByPath(const std::string& path) { return path.ends_with(".onnx") || path.ends_with(".gguf"); }

// Of what is no file that Millrace keeps.
JsonKind KindOfFile(const std::string& path, const std::string& text) {
  if (ReadByPath(path)) return JsonKind::kGraph;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' ? KindOfJson(text) : JsonKind::kGraph;
}

int ShowMachine(bool json, const Machine& machine) {
  const Json facts = DescribeMachine(machine);
  json ? PrintJson(facts) : PrintMachine(machine, facts);
  return 0;
}

int InspectFile(const CommandLine& line, const std::string& path) {
  const bool json = line.common.json;
  const std::string text = ReadByPath(path) ? "" : ReadWholeFile(path);
  const JsonKind kind = KindOfFile(path, text);
  std::optional<KeptKind> kept = KindOfKept(text);
  if (path.ends_with(".safetensors")) kept = KeptKind::kWeights;
  if (kept) {
    InspectKept(line, *kept, path, text);
    return 0;
  }
  try {
    if (kind == JsonKind::kMachine) return ShowMachine(json, ParseMachineJson(text));
    if (kind == JsonKind::kPlan) {
      const Json facts = DescribePlan(ParsePlanJson(text));
      json ? PrintJson(facts) : PrintPlan(facts);
      return 0;
    }
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
  const LoadedGraph loaded = LoadWithWarnings(line, path);
  const Json facts = DescribeGraph(loaded.graph);
  json ? PrintJson(facts) : PrintGraph(facts);
  return 0;
}

// What comes is kept in a file while it is looked at, since models refer to files beside them and are read in a child.
int InspectInput(const CommandLine& line) {
  const std::string content = ReadWholeFile("/dev/stdin");
  const ScratchFolder folder("inspect");
  std::filesystem::create_directories(folder.path());
  const std::string_view beginning = std::string_view(content).substr(0, 64);
  const bool binary =
      !KindOfKept(content) && std::any_of(beginning.begin(), beginning.end(), [](char c) { return c >= 0 && c < 9; });
  const char* const name = content.starts_with("GGUF") ? "/input.gguf" : binary ? "/input.onnx" : "/input";
  const std::string path = folder.path() + name;
  WriteFileAtomically(path, content);
  try {
    return InspectFile(line, path);
  } catch (const InvalidInput& error) {
    std::string complaint = error.what();
    for (std::size_t at = complaint.find(path); at != std::string::npos; at = complaint.find(path))
      complaint.replace(at, path.size(), "standard input");
    throw InvalidInput(complaint);
  }
}

int Inspect(const CommandLine& line, const std::string& words) {
  if (words == "-") return InspectInput(line);
  if (const std::optional<Machine> preset = MachinePreset(words)) return ShowMachine(line.common.json, *preset);
  std::error_code ignored;
  if (std::filesystem::is_directory(words, ignored)) {
    InspectResultFolder(line, words);
    return 0;
  }
  return InspectFile(line, words);
}

}  // namespace

void AddInspect(CommandLine& line) {
  const auto path = std::make_shared<std::string>();
  CLI::App* verb =
      AddVerb(line, "inspect", "Give a readable account of any file: graph, model, machine, plan, result, ...",
              [&line, path] { return Inspect(line, *path); });
  verb->add_option(
          "FILE", *path,
          "Any file Millrace reads or keeps (graph, model, machine, plan, weights, records.jsonl, profile cache, "
          "result.json), a machine preset, optimize's output folder, or - for standard input")
      ->required();
}

}  // namespace millrace::cli
