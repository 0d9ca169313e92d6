// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"

// The rules of docs/formats.md, written down a second time as plainly as possible, straight from graph, machine and
// plan: no tables, no shared code with src/. What the fast simulator says is held against this.
namespace millrace::testing {

struct SlowTimeline {
  std::vector<double> start, finish;  // by group
  double makespan = 0;
  std::vector<double> peak_memory_bytes;  // by device: its memory's peak
  bool feasible = true;
};

double SlowGroupSeconds(const ComputationGraph& graph, const Machine& machine, const std::vector<OpId>& group,
                        int device);
SlowTimeline SlowSimulate(const ComputationGraph& graph, const Machine& machine, const Plan& plan);
double SlowLowerBound(const ComputationGraph& graph, const Machine& machine, const FusionGroups& groups);

}  // namespace millrace::testing
