// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/planning/planner.h"

// Beam search: plans are built step by step as a policy builds them, many side by side. Of every partial plan the
// policy's likeliest choices are made; each is judged by the makespan that list scheduling reaches from there
// (gflownet/environment/rank_completion.h), and the best go on. The policy says where to look, the rule what to keep:
// it looks ahead to the end of the plan, which the policy does not.
//
// Sources: Ow and Morton, "Filtered beam search in scheduling", 1988; Duin and Voss, "The Pilot Method", 1999, for
// judging a choice by what a rule makes of it.
namespace millrace {

struct BeamOptions {
  double reward_temperature = 0.02;  // that the network is asked at
  int groups = 3;                    // likeliest groups of a partial plan whose devices are looked at
  int choices = 3;                   // likeliest choices of a partial plan that are judged
  int first_width = 2;               // partial plans kept in the first pass, and in the second, by the other rule
};

// Passes with more and more partial plans, twice as many each time, for as many steps of the policy as budget.samples
// whole plans take, or budget.seconds; a look at a partial plan's groups is half a step, and so is one at the devices
// of a group. Offers as many plans: for each plan's worth of steps the fastest that list scheduling finished. Draws
// nothing. Under the contended proxy what lies ahead is judged as if no transfer waited.
std::unique_ptr<Planner> MakeBeam(PlannerTraits traits, std::shared_ptr<const Policy> policy,
                                  const BeamOptions& options);

}  // namespace millrace
