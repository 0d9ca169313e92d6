// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/gflownet/sampling/softmax_temperature.h"
#include "millrace/gflownet/sampling/window.h"
#include "millrace/planning/planner.h"

// Window resampling: another planner makes some plans; then the policy draws windows of the best plan so far anew and
// keeps what is better. A window is a number of steps at one place of the plan: what comes before stays, what comes
// after follows in the old order. On a long graph hardly any whole draw is good everywhere; of a window many are.
// Before that, list scheduling goes there and back from each of the plans, and from the best of all until it gains no
// more.
//
// Source of the idea: Kim et al., "Local Search GFlowNets", ICLR 2024. There plans are taken apart by P_B and kept by
// their reward. Here they are opened where they were built, and only the best is kept.
namespace millrace {

struct WindowResamplingOptions {
  std::vector<double> reward_temperatures = SamplingPlannerOptions().reward_temperatures;  // in turn
  SoftmaxTemperature softmax_temperature;                                                  // of windows, by their steps
  std::vector<double> flatter = {};  // as SamplingPlannerOptions has it
  double drawn_share = 0.1;          // of the steps, and of the seconds if they are limited: whole plans
  WindowSizes windows = {.fewest = 4};
  double suffix_share = 0.5;  // of the other steps: windows that reach to the plan's end, wherever they begin
  int round = 8;              // windows drawn of one best plan before another may take its place
  int rounds_a_side = 16;     // on the graph, then as many on the reversed graph
  int rounds_a_draw = 1;      // there and back (heuristics/forward_backward.h) from each whole plan
  int threads = 1;
};

// Takes as many steps of the policy as budget.samples whole plans would, and offers as many plans: drawn_share *
// budget.samples plans of the planner, then for each plan's worth of windows the best that they drew, the first of
// these also of what was found there and back. A plan that does not fit in memory is not opened. Offers are the same at
// any number of threads.
std::unique_ptr<Planner> MakeWindowResampling(PlannerTraits traits, std::shared_ptr<const Planner> planner,
                                              std::shared_ptr<const Policy> policy,
                                              const WindowResamplingOptions& options);

}  // namespace millrace
