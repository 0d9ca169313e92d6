// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// What policies that decide a whole plan at once are rewarded with: the plan's time under contention.
//
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers", 2020: -sqrt(run time), -10 for what cannot
// run.
namespace millrace {

inline constexpr double kUnusableReward = -10;

// ContendedSeconds (simulate/contention.h); infinity where the plan does not fit in memory, or a group
// cannot run where it is placed. Seconds. `assignment` must keep the rules of plan/verify.h otherwise.
double UsableSeconds(const CostedGraph& costed, const Assignment& assignment);

// -sqrt(seconds / reference), kUnusableReward for infinity. `reference` > 0 makes rewards of unlike graphs comparable.
double PlanReward(double seconds, double reference);

}  // namespace millrace
