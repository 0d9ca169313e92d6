// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/steering.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"

// What a user settles before anybody plans, as Python hands it over.
namespace millrace::python {

using PinWords = std::vector<std::pair<std::string, std::string>>;  // pattern, and device by name or number

// Of the plan to keep, which may be null, only groups with ops of the names of `keep_ops`, if there are any. Throws
// InvalidInput, also where the plan is of another graph.
Steering SteeringOf(const ComputationGraph& graph, const Machine& machine, const PinWords& pins,
                    const std::shared_ptr<PlanRecord>& keep, const std::vector<std::string>& keep_ops);

}  // namespace millrace::python
