// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/plan/plan.h"

// What a user settles before anybody plans: ops that must run on a device, and groups that must stay as they are. It
// reaches every planner through the cost model, which says that a group with a pinned op can run nowhere else.
namespace millrace {

struct Steering {
  std::vector<std::int32_t> device_of;  // by op; -1: anywhere it can run. Empty: no op is pinned
  FusionGroups kept;                    // disjoint; ops in execution order. Every plan has these groups

  bool empty() const { return device_of.empty() && kept.empty(); }
  std::int32_t DeviceOf(OpId op) const { return device_of.empty() ? -1 : device_of[static_cast<std::size_t>(op)]; }
};

// Are its ops where they must be, and the groups that must stay among its groups?
bool Keeps(const Steering& steering, const Plan& plan);

// Throws InvalidInput, naming the ops and the device, where no plan can keep to it: an op or a kept group cannot run
// where it must, or ops that must share a device must be apart. `model` is the one without steering.
void CheckSteering(const CostModel& model, const Machine& machine, const Steering& steering);

// The model as planners that keep to the steering see it. Without any it is `base` itself.
std::unique_ptr<CostModel> MakeSteeredCostModel(std::unique_ptr<CostModel> base, Steering steering);

// Every op a group of its own, but for the groups that must stay. By their lowest op, ops in execution order.
FusionGroups UnfusedGroups(const CostModel& model);

}  // namespace millrace
