// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "millrace/formats/model.h"
#include "millrace/plan/plan.h"

// A plan inside the ONNX model it is for: the nodes stand in the plan's order, and the model's metadata says the rest.
//
//   "millrace.plan"       the plan as millrace.plan JSON, in the op ids of this very model
//   "millrace.placement"  one line per node, for people: NODE -> DEVICE, group N
namespace millrace {

// The model with its nodes in the plan's sequence and the plan, renumbered to match, in its metadata: groups keep their
// ids, places and times. Precondition: the model is clean, as the importer leaves it, so that reading the written file
// gives the same node ids. Throws InvalidInput where the plan is not valid for the model.
Model WithPlan(const Model& model, const PlanRecord& record);

// The plan a model carries, if any. Throws InvalidInput where it carries one that is not valid for it (the model was
// edited since).
std::optional<PlanRecord> PlanOf(const Model& model);

}  // namespace millrace
