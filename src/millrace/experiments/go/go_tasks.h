// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "millrace/experiments/go/go_methods.h"
#include "millrace/go/decisions.h"
#include "millrace/go/policy.h"

// GO's study of tasks: placement, order and fusion decided one by one and together. No planner decides a part of them,
// so these methods take the policy itself, with the draws of the planner `go` (go/planner.h). Seconds.
namespace millrace {

// Which tasks the policy decides.
using GoTasks = std::array<bool, kTasks.size()>;

struct GoTaskOptions {
  int plans = 16;      // drawn, and measured, for each optimisation
  double search = 0;   // above 0: where the placement is decided, a contended search of so many seconds follows; the
                       // order is its business, too, where that is decided with the placement
  std::string suffix;  // of the names
};

// The policy to use for a workload where these tasks are decided: the same for all, or one that was fitted to it.
using GoPolicyFor = std::function<std::shared_ptr<const GoPolicy>(const GoRow&, const GoTasks&, std::uint64_t seed)>;

// `pl-only`, `pl|sch` (tasks optimised one by one, then put together), `pl+sch` (together), `sch+fu`, `pl|sch|fu`,
// `pl+sch+fu`. What is not decided has its default: the order of readiness, GreedyFusion, and as in the paper the human
// placement (PlaceByLayers), at which order and fusion are decided where the placement is not decided with them. The
// answer of each optimisation is the fastest on the target.
std::vector<GoMethod> GoTaskMethods(const GoPolicyFor& policy_for, const GoTaskOptions& options);

}  // namespace millrace
