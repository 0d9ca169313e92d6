// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/plan/plan.h"

// A plan for an engine that starts whole models, not single ops: the groups of each device, cut into stretches. A
// stretch waits until everything it reads is there, then runs to its end; only then may others read what it made.
//
// Stretches are as long as they can be without anybody waiting for more than the plan asks: where a stretch begins
// later, or hands over later, than its groups would by themselves, it is cut in two. So they wait for each other in no
// circle, and what the plan runs at the same time still may.
namespace millrace {

struct Stretch {
  int device = 0;
  std::vector<OpId> ops;   // ascending
  std::vector<int> after;  // the stretches that it waits for, ascending: all of them before it in the list
};

// Every op is in one stretch. They are in an order in which they may run one after the other; those of one unit run in
// this order. Preconditions: `plan` is valid for graph and machine.
std::vector<Stretch> CutIntoStretches(const ComputationGraph& graph, const Machine& machine, const Plan& plan);

}  // namespace millrace
