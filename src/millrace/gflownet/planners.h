// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/planning/registry.h"

// The first paper's sampler as planners, alone and with planners that start from its plans.
namespace millrace {

// Adds
//   gflownet             plans drawn by the policy
//   gflownet+search      local search from plans of `gflownet+resampling` and the best heuristic
//                        plan, so that it is never behind it
//   gflownet+resampling  half of the plans drawn, the others by drawing windows of the best one anew
//   gflownet+beam        beam search by the policy's likeliest choices
// and each of them as gflownet-untrained..., with the weights that training starts from. `weights` is the file that the
// trained ones read; empty: the one that comes with Millrace; "exact": the one that comes with it for graphs of a
// handful of groups, which draws in proportion to the reward. It is read once, when a planner is first made.
//
// Weights of a network that reads the whole state at every step are drawn as they are: softmax temperature 1, no plan
// of the most likely choices, and the reward temperature is what the network is asked at.
void AddGFlowNetPlanners(PlannerRegistry& registry, const std::string& weights, int threads);

// The file of weights that these planners read: `named`, or one that comes with Millrace if that is empty or "exact".
// Throws InvalidInput if there is none.
std::string GFlowNetWeightsFile(const std::string& named);

// The policy of the planners gflownet-untrained...
std::shared_ptr<const Policy> UntrainedGFlowNetPolicy();

}  // namespace millrace
