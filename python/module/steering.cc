// SPDX-License-Identifier: Apache-2.0
#include "steering.h"

#include <optional>

#include "millrace/cost/steering_request.h"
#include "millrace/errors/errors.h"
#include "millrace/plan/verify.h"

namespace millrace::python {

Steering SteeringOf(const ComputationGraph& graph, const Machine& machine, const PinWords& pins,
                    const std::shared_ptr<PlanRecord>& keep, const std::vector<std::string>& keep_ops) {
  if (!keep && !keep_ops.empty()) throw InvalidInput("keep_ops says what of a plan is kept; give the plan as keep");
  std::vector<Pin> all;
  for (const auto& [pattern, device] : pins) all.push_back({pattern, device});
  std::optional<KeptPlan> kept;
  if (keep) {
    VerifyRecord(graph, *keep);
    kept = KeptPlan{*keep, keep_ops};
  }
  return MakeSteering(graph, machine, all, kept);
}

}  // namespace millrace::python
