// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/cost/steering.h"
#include "millrace/plan/plan.h"

// Steering in a user's words, and what it means for a graph on a machine.
namespace millrace {

// Ops of such names (graph/op_names.h) run on the device: its name or, where none has that name, its number.
struct Pin {
  std::string pattern;
  std::string device;
};

// From "PATTERN=DEVICE"; the last "=" counts. Throws InvalidInput.
Pin ParsePin(std::string_view words);

// Part of an earlier plan of the same graph. Groups with an op of such a name stay as they are and, by its name, on
// their device. A pattern after "!" takes ops out again: a group with one of these is free. Without any pattern, or
// with none but such, all other groups are kept. Which group comes first is free, as long as the plan is valid.
struct KeptPlan {
  PlanRecord record;
  std::vector<std::string> patterns;
};

// Throws InvalidInput: a pattern that matches no op, an op that is pinned to two devices or pinned elsewhere than it is
// kept, a device that the machine does not have. Whether ops can run there is CheckSteering's question.
Steering MakeSteering(const ComputationGraph& graph, const Machine& machine, const std::vector<Pin>& pins,
                      const std::optional<KeptPlan>& kept);

}  // namespace millrace
