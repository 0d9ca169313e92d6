// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/sampling/softmax_temperature.h"
#include "millrace/planning/planner.h"

// A policy as a planner: it offers the plans that it draws.
namespace millrace {

struct SamplingPlannerOptions {
  std::vector<double> reward_temperatures = {0.01, 0.04};  // each has an equal share of the samples
  SoftmaxTemperature softmax_temperature;
  std::vector<double> flatter = {};  // by reward temperature, what the softmax temperature is multiplied by; empty: 1
  bool greedy = true;                // the first plan at each temperature is that of the most likely choices
  // Draws that repeat plans drawn before are lost, which happens on small graphs: while many of them do, the softmax
  // temperature rises.
  bool flatter_on_repeats = true;
  double epsilon = 0;
  int threads = 1;
};

// Offers budget.samples plans in order of temperature and draw. With budget.seconds it stops in time, between batches
// of plans. Offers are the same at any number of threads.
std::unique_ptr<Planner> MakeSamplingPlanner(PlannerTraits traits, std::shared_ptr<const Policy> policy,
                                             const SamplingPlannerOptions& options);

// How many of `wanted` plans to draw. Drawing a plan costs some thousand times as much as simulating it, so large
// graphs get fewer.
std::int64_t SampledPlansFor(const PlanningProblem& problem, std::int64_t wanted);

}  // namespace millrace
