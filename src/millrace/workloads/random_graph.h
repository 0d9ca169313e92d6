// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/workloads/drawn_costs.h"

// Random computation graphs to try schedulers on.
//
// Every op makes one tensor that all its consumers read; an op without consumers makes an output of the graph. Ids are
// in topological order. Seconds are uniform in [0, 1); bytes are uniform too, scaled so that their mean is exactly
// CCR x mean seconds x 1e9: the communication-to-computation ratio of a link of 1e9 bytes/s.
//
// Families:
//   layered  layers of similar size with local links and some skips (layered_graph.h)
//   er       Erdos-Renyi: every pair is linked with the same probability
//   sbm      stochastic block model: four equal blocks, 80 % of the links inside them
//   ws       Watts-Strogatz: a ring of nearest neighbours, 30 % of the links thrown elsewhere
//   ba       Barabasi-Albert: each node links to earlier ones in proportion to their degree
// The last four are undirected: a random permutation orders their nodes and every link points to the later one. Then
// the first op of every unconnected piece is made a consumer of a random earlier op, so these graphs hang together.
namespace millrace {

struct RandomGraphOptions {
  std::int64_t ops = 100;  // 1 .. kMostDrawnOps
  double ccr = 1;
  std::uint64_t seed = 0;  // structure, seconds and bytes are separate streams: the CCR changes only the bytes
  double degree = 4;       // mean number of neighbours of an op; `layered` has its own density

  // Where not empty, an op's seconds are stated per device kind (drawn_costs.h).
  KindFactors kinds = {};
  double heterogeneity = 0.5;  // 0 .. 2
};

const std::vector<std::string>& RandomFamilyNames();

// Throws InvalidInput for an unknown family or options out of range.
ComputationGraph MakeRandomGraph(std::string_view family, const RandomGraphOptions& options);

}  // namespace millrace
