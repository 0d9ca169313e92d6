// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/graph/computation_graph.h"

// How much each stage of the pipeline does, by what was asked for and by the size of the graph. Seconds.
namespace millrace {

struct OptimizeOptions;

// Shares of the time limit, and the effort, of each stage. A share is of what is left when the stage begins, but for
// what the stages that measure and write are sure to need.
struct Effort {
  double profile_share = 0.4;
  double measuring_share = 0.35;      // kept for measuring, where plans have to be run several times
  double most_measuring_share = 0.6;  // the same where plans take long to be made ready
  double pool_share = 0.5;
  double shared_links_share = 0.6;
  double guesses_share = 0.5;
  // In place of pool_share and shared_links_share where the proxy is the target, and searching on from the pool gains
  // more than a larger pool: by the linear proxy, and by the contended one.
  double exact_linear_share = 0.1;
  double exact_contended_share = 0.15;
  double search_on_share = 0.9;
  double beside_share = 0.95;  // of what anneals beside, which ends with the search on
  double calibrate_share = 0.8;
  double race_share = 0.7;        // of what is left for measuring
  double profile_seconds = 0.02;  // per group and kind
  double race_seconds = 60;
  double comparison_seconds = 60;
  int race_rounds = 20;
  int comparison_rounds = 30;
};

Effort EffortOf(const OptimizeOptions& options);

// The time limit of --quick: ten seconds, and up to a minute for graphs of 100,000 ops and more.
double QuickSeconds(const ComputationGraph& graph);

// Ops and edges that one pass over the graph touches.
std::int64_t VisitsOfAPass(const ComputationGraph& graph);

// Sampling costs a pass over the graph each, so very large graphs get fewer unless the user asks.
std::int64_t SamplesFor(const OptimizeOptions& options, const ComputationGraph& graph);

// Likewise every step of a search prices a plan. Small graphs, which have few plans, get fewer as well: a thousandfold
// of the square of their ops.
std::int64_t IterationsFor(const OptimizeOptions& options, const ComputationGraph& graph);

// Plans of one planner that a pool keeps.
std::size_t KeepPerPlanner(const ComputationGraph& graph);

}  // namespace millrace
