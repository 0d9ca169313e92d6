// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// A search for placements where a plan is expensive to judge: on machines whose links are shared, the linear proxy
// misleads whoever optimises it (simulate/contention.h). Seconds.
namespace millrace {

struct PlacementSearchOptions {
  std::int64_t evaluations = 2000;       // placements tried; the deterministic limit
  std::optional<double> seconds;         // wall time
  double first_temperature = 0.02;       // as a share of the best makespan so far; falls geometrically ...
  double last_temperature = 0.0005;      // ... to this one
  std::vector<std::vector<int>> starts;  // placements to begin with; those given here only
};

struct FoundPlacement {
  Assignment assignment;
  double makespan = 0;  // under contention
};

// Simulated annealing under contention over placements, whose sequence is always that of SchedulePlaced: by readiness
// or by upward rank, whichever is better at the start. Begins at the best start, or of its own: everything on one
// device, PlaceByLayers, PlaceByPartition, HEFT's placement. A move takes groups that are near each other in
// topological order, often of one layer or of one device, to another device, or exchanges two devices among them; how
// many goes from one to an eighth of the graph. Colocations move as one. Placements that do not fit in memory are no
// answers: nothing where all starts are such. Throws Interrupted.
std::optional<FoundPlacement> SearchPlacement(const CostedGraph& costed, const PlacementSearchOptions& options,
                                              Random& random);

}  // namespace millrace
