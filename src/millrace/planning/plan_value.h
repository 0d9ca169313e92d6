// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "millrace/cost/costed_graph.h"
#include "millrace/planning/objective.h"
#include "millrace/simulate/timeline.h"

// What an objective other than latency is about, as a number of a plan.
namespace millrace {

// Of a plan with its timeline; less is better.
using PlanValue = std::function<double(const Assignment&, const Timeline&)>;

// Memory: the bytes on the fullest memory (simulate/peak_memory.h). Throughput: the seconds between overlapping runs
// (simulate/overlapped_runs.h). Latency: the makespan. `costed` must outlive it; it serves one thread.
PlanValue MakePlanValue(Objective::Aim aim, const CostedGraph& costed);

}  // namespace millrace
