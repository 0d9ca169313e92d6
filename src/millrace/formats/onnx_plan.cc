// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_plan.h"

#include <fmt/format.h>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/plan_json.h"
#include "millrace/plan/hash.h"
#include "millrace/plan/verify.h"

namespace millrace {
namespace {

constexpr const char* kPlanKey = "millrace.plan";
constexpr const char* kPlacementKey = "millrace.placement";

}  // namespace

Model WithPlan(const Model& model, const PlanRecord& record) {
  const ComputationGraph before = GraphOfModel(model);
  VerifyPlan(before, record.machine, record.plan);
  Model planned = model;
  planned.nodes.clear();
  PlanRecord renumbered = record;
  std::string placement;
  for (const int group : record.plan.sequence) {
    std::vector<OpId>& ops = renumbered.plan.groups[static_cast<std::size_t>(group)];
    const int device = record.plan.placement[static_cast<std::size_t>(group)];
    for (OpId& op : ops) {
      placement += fmt::format("{} -> {}, group {}\n", before.op(op).name,
                               record.machine.devices[static_cast<std::size_t>(device)].name, group);
      const Node& node = model.nodes[static_cast<std::size_t>(op)];
      op = static_cast<OpId>(planned.nodes.size());
      for (const int output : node.outputs) {
        if (output >= 0) planned.values[static_cast<std::size_t>(output)].producer = op;
      }
      planned.nodes.push_back(node);
    }
  }
  renumbered.graph_name = planned.name;
  renumbered.graph_hash = GraphHash(GraphOfModel(planned));
  planned.metadata[kPlanKey] = PlanJson(renumbered);
  planned.metadata[kPlacementKey] = placement;
  return planned;
}

std::optional<PlanRecord> PlanOf(const Model& model) {
  const auto found = model.metadata.find(kPlanKey);
  if (found == model.metadata.end()) return std::nullopt;
  PlanRecord record = ParsePlanJson(found->second);
  const ComputationGraph graph = GraphOfModel(model);
  if (!record.graph_hash.empty() && record.graph_hash != GraphHash(graph)) {
    throw InvalidInput("the plan in the model's metadata was made for another graph; the model was changed since");
  }
  VerifyPlan(graph, record.machine, record.plan);
  return record;
}

}  // namespace millrace
