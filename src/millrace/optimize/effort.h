// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/graph/computation_graph.h"

// How much each stage of the pipeline does, by what was asked for and by the size of the graph. Seconds.
namespace millrace {

struct OptimizeOptions;

// Shares of the time limit, and the effort, of each stage.
struct Effort {
  double profile_share = 0.4;
  double planner_share = 0.05;    // of what is left after profiling, for each sampling or searching planner
  double race_share = 0.7;        // of what is left after the pool
  double profile_seconds = 0.02;  // per group and kind
  double race_seconds = 60;
  double comparison_seconds = 60;
  int race_rounds = 20;
  int comparison_rounds = 30;
};

Effort EffortOf(const OptimizeOptions& options);

// Ops and edges that one pass over the graph touches.
std::int64_t VisitsOfAPass(const ComputationGraph& graph);

// Sampling costs a pass over the graph each, so very large graphs get fewer unless the user asks.
std::int64_t SamplesFor(const OptimizeOptions& options, const ComputationGraph& graph);

// Likewise every step of a search simulates the whole plan.
std::int64_t IterationsFor(const OptimizeOptions& options, const ComputationGraph& graph);

// Plans of one planner that a pool keeps.
std::size_t KeepPerPlanner(const ComputationGraph& graph);

}  // namespace millrace
