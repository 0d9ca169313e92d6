// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/graph/computation_graph.h"
#include "millrace/plan/plan.h"

// The millrace.plan format, version 1 (docs/formats.md).
namespace millrace {

// Shape and types only. Throws InvalidInput.
PlanRecord ParsePlanJson(std::string_view text);
std::string PlanJson(const PlanRecord& record);

struct PlanReading {
  std::optional<Machine> machine = {};                  // in place of the one the plan names
  std::map<std::string, std::int64_t> dimensions = {};  // sizes for an .onnx's symbolic dimensions, by name
};

// Reads a plan for this graph, from a plan file or out of an .onnx that carries one (onnx_plan.h), and verifies it:
// made for it (graph_hash, where stated) and valid on its machine (plan/verify.h). Memory is the caller's question.
// Throws InvalidInput naming the file.
PlanRecord LoadPlan(const std::string& path, const ComputationGraph& graph, const PlanReading& reading = {});

}  // namespace millrace
