// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/table.h"
#include "millrace/planning/registry.h"
#include "millrace/search/exact.h"

// How many small graphs are proved best, and how far planners stay behind the proven best. Seconds.
namespace millrace {

struct OptimalityOptions {
  double seconds = 10;         // of the exact search, for each graph
  double planner_seconds = 1;  // of each planner that searches, for each graph
  int threads = 2;             // of the exact search; graphs come one after the other
  bool quick = false;
  std::uint64_t seed = 0;
};

// What `exact` makes of a graph within the options, and the seconds it took.
struct TimedProof {
  ExactResult result;
  double seconds = 0;
};
TimedProof ProveTimed(const CostedGraph& costed, const OptimalityOptions& options, std::uint64_t stream);

// Random graphs with communication: 10, 15, 20 and 30 ops x 2, 4, 8, 2 + 2 and 4 + 4 devices x CCR 0.1, 1 and 10 x the
// five families: 300 graphs; quick: 40 of them, of 10 and 20 ops. Devices and links as in the quality grid. Graph i has
// seed kQualitySeed + 50'000 + i.
std::vector<QualityInstance> OptimalityGrid(bool quick);

// "proven": by ops, devices, CCR and family, how many graphs are proven, in which time, and the gaps left. "planners":
// for each planner of the pool that can be made, on the graphs whose best is proven, how often it finds it and how far
// it is behind; those that search have planner_seconds, the others what they ask for. "instances": all graphs, for
// programs. Throws Interrupted.
std::vector<Table> OptimalityTables(const OptimalityOptions& options, const PlannerRegistry& planners,
                                    const std::function<void(int, int)>& progress);

}  // namespace millrace
