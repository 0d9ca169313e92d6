// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/fusion/fusion_problem.h"
#include "millrace/plan/plan.h"

// The groups that suit a plan of single ops: what fusing saves is worth it where nobody waits for it. Seconds.
namespace millrace {

// Where each op runs and when its turn comes.
struct OpPlan {
  std::vector<int> device;  // by op
  std::vector<int> turn;    // by op: its place in one order of all ops
};

// Of a plan of groups: ops of a group one after the other.
OpPlan SpreadOverOps(const CostedGraph& costed, const Assignment& assignment);

// By group of another graph of the same ops: where the group's first op runs.
std::vector<int> PlacementByFirstOps(const CostedGraph& costed, const OpPlan& plan);

// A plan that has chosen its groups.
struct FusedPlan {
  std::shared_ptr<const CostedGraph> costed;
  Assignment assignment;
  double makespan = 0;  // infinity: it does not fit in memory
};

// The makespan of such a plan.
double SecondsIfItFits(const CostedGraph& costed, const Assignment& assignment);

// Ops that run on one device join, in the order of fusion/merged_fusion.h, where that is legal, saves time there, and
// does not make the plan longer. Groups run in the order of their first ops or of their last ones, whichever is the
// faster plan. All joins are tried at once, then those of a run of them that makes the plan longer by halves: where
// everything pays that is one simulation, where much does not some hundred. Asks `stop` before each but the first two,
// and ends with what it has. The result never takes longer than the plan with no op joined, nor overflows a memory
// where that does not, and keeps to the groups that a user keeps.
FusedPlan FuseForPlan(const FusionProblem& problem, const OpPlan& plan, const std::function<bool()>& stop);

}  // namespace millrace
