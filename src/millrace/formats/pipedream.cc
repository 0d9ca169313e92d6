// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/pipedream.h"

#include <unordered_map>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/text_lines.h"

namespace millrace {
namespace {

constexpr std::string_view kSeparator = " -- ";
constexpr std::string_view kFirstCost = "forward_compute_time=";

// An op's text may hold separators, commas and parentheses of its own; the costs are what follows the last separator
// that stands before them.
struct NodeLine {
  std::string_view node;
  std::string_view op;
  std::string_view costs;
  std::string_view stage;  // empty where not stated
};

// What follows "name=" up to the next comma.
std::string_view Cost(const TextLines& lines, std::string_view costs, std::string_view name) {
  while (!costs.empty()) {
    const std::size_t comma = costs.find(',');
    const std::string_view part = Trimmed(costs.substr(0, comma));
    costs = comma == std::string_view::npos ? std::string_view() : costs.substr(comma + 1);
    if (part.starts_with(name) && part.size() > name.size() && part[name.size()] == '=')
      return Trimmed(part.substr(name.size() + 1));
  }
  lines.Refuse("the node states no " + std::string(name));
}

double CostValue(const TextLines& lines, std::string_view costs, std::string_view name) {
  const std::string_view text = Cost(lines, costs, name);
  if (const auto cost = CostIn(text)) return *cost;
  lines.Refuse(std::string(name) + " '" + Shown(text) + "' is no finite number >= 0");
}

// One number, or "[a; b; ...]" for a node with several results.
double ActivationBytes(const TextLines& lines, std::string_view costs) {
  constexpr std::string_view kName = "activation_size";
  std::string_view list = Cost(lines, costs, kName);
  if (!list.starts_with('[') || !list.ends_with(']')) return CostValue(lines, costs, kName);
  list = list.substr(1, list.size() - 2);
  double sum = 0;
  while (!list.empty()) {
    const std::size_t end = list.find(';');
    const auto bytes = CostIn(Trimmed(list.substr(0, end)));
    if (!bytes) lines.Refuse("activation_size '" + Shown(list) + "' is no list of finite numbers >= 0");
    sum += *bytes;
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  }
  return sum;
}

NodeLine Split(const TextLines& lines, std::string_view line) {
  NodeLine parts;
  const std::size_t costs = line.rfind(std::string(kSeparator).append(kFirstCost));
  const std::size_t op = line.find(kSeparator);
  if (costs == std::string_view::npos || op >= costs)
    lines.Refuse("'" + Shown(line) + "' is neither a node (nodeK -- op -- costs) nor an edge (nodeA -- nodeB)");
  parts.node = Trimmed(line.substr(0, op));
  parts.op = Trimmed(line.substr(op + kSeparator.size(), costs - op - kSeparator.size()));
  parts.costs = line.substr(costs + kSeparator.size());
  const std::size_t stage = parts.costs.find(kSeparator);
  if (stage != std::string_view::npos) {
    parts.stage = Trimmed(parts.costs.substr(stage + kSeparator.size()));
    parts.costs = parts.costs.substr(0, stage);
  }
  return parts;
}

Op OpOf(const TextLines& lines, const NodeLine& parts) {
  Op op;
  op.name = parts.node;
  op.type = parts.op.substr(0, parts.op.find_first_of("( \t"));
  if (op.type.empty()) lines.Refuse("the node names no op");
  const double milliseconds =
      CostValue(lines, parts.costs, "forward_compute_time") + CostValue(lines, parts.costs, "backward_compute_time");
  op.seconds.everywhere = op.type.starts_with("Input") ? 0 : milliseconds / 1e3;
  op.weight_bytes = CostValue(lines, parts.costs, "parameter_size");
  constexpr std::string_view kStage = "stage_id=";
  if (parts.stage.starts_with(kStage)) {
    op.layer = IdIn(parts.stage.substr(kStage.size()));
    if (!op.layer) lines.Refuse("'" + Shown(parts.stage) + "' is no stage number");
  }
  return op;
}

struct Edge {
  std::size_t line;
  std::string_view from, to;
};

}  // namespace

ComputationGraph ParsePipeDream(std::string_view text, const std::string& name) {
  GraphData data;
  data.name = name;
  std::unordered_map<std::string_view, OpId> op_of;
  std::vector<Edge> edges;
  TextLines lines(text);
  std::string_view line;
  while (lines.Next(line)) {
    line = Trimmed(line);
    if (line.empty()) continue;
    const std::size_t first = line.find(kSeparator);
    if (first != std::string_view::npos && line.find(kSeparator, first + 1) == std::string_view::npos) {
      edges.push_back(
          {lines.number(), Trimmed(line.substr(0, first)), Trimmed(line.substr(first + kSeparator.size()))});
      continue;
    }
    const NodeLine parts = Split(lines, line);
    if (!op_of.emplace(parts.node, static_cast<OpId>(data.ops.size())).second)
      lines.Refuse("'" + Shown(parts.node) + "' is given twice");
    Tensor tensor;
    tensor.name = parts.node;
    tensor.producer = static_cast<OpId>(data.ops.size());
    tensor.bytes = ActivationBytes(lines, parts.costs);
    data.tensors.push_back(std::move(tensor));
    data.ops.push_back(OpOf(lines, parts));
  }
  if (data.ops.empty()) throw InvalidInput("holds no nodes; a profile has lines nodeK -- op -- costs");

  for (const Edge& edge : edges) {
    const auto end_of = [&](std::string_view node) {
      const auto found = op_of.find(node);
      if (found == op_of.end())
        throw InvalidInput("line " + std::to_string(edge.line) + ": there is no node '" + Shown(node) + "'");
      return found->second;
    };
    const OpId from = end_of(edge.from);
    data.tensors[static_cast<std::size_t>(from)].consumers.push_back(end_of(edge.to));
  }
  for (Tensor& tensor : data.tensors) tensor.output = tensor.consumers.empty();
  return ComputationGraph(std::move(data));
}

}  // namespace millrace
