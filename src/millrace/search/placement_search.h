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

struct PlacementStart {
  std::vector<int> placement;
  std::vector<double> priorities;  // by group, the highest runs first; empty: by upward rank or in order of readiness
  std::vector<int> sequence = {};  // an order that is judged as it is; empty: none
};

enum class PlacementJudge {
  kContended,  // ContendedTimeline
  kGreedy  // GreedyTimeline: what is left of a plan where nobody keeps its order; then the order is the one it finds
};

struct PlacementSearchOptions {
  std::int64_t evaluations = 2000;  // placements tried; the deterministic limit
  std::optional<double> seconds;    // wall time
  double first_temperature_share =
      0.001;  // annealing temperature as a share of the best makespan so far; falls geometrically ...
  double last_temperature_share = 0.00005;  // ... to this one
  std::vector<PlacementStart> starts;       // beside those it has of its own
  PlacementJudge judge = PlacementJudge::kContended;
  bool keep_order = false;  // starts keep their priorities, empty ones being the order of readiness
};

struct FoundPlacement {
  Assignment assignment;
  double makespan = 0;           // as judged
  std::int64_t evaluations = 0;  // that the search took
};

// Simulated annealing over placements, whose sequence is always that of SchedulePlaced: by readiness, by upward rank or
// by the priorities of a start, whichever is best at the start (keep_order: readiness, or those of the best start).
// Begins at the best of the starts given, everything on one device, PlaceByLayers, PlaceByPartition, PlaceUntilFull and
// HEFT's placement, each in all orders (placement_orders.h), too, unless keep_order says otherwise. Starts take a third
// of the evaluations or of the seconds at most. A move takes a cluster of any level (heuristics/cluster_levels.h),
// or what of it is on one device, to another device; or groups that are near each other in topological order, often of
// one layer, of which it may also exchange those on two devices; how many goes from one to a quarter of the graph.
// Colocations move as one. Placements that do not fit in memory are no answers: nothing where all starts are
// such. Throws Interrupted.
std::optional<FoundPlacement> SearchPlacement(const CostedGraph& costed, const PlacementSearchOptions& options,
                                              Random& random);

}  // namespace millrace
