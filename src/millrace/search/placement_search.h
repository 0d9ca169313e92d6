// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"
#include "millrace/search/placement_moves.h"

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
  kProxy,      // the timeline of the graph's own proxy
  kGreedy  // GreedyTimeline: what is left of a plan where nobody keeps its order; then the order is the one it finds
};

struct PlacementSearchOptions {
  std::optional<std::int64_t> evaluations;  // placements tried; the deterministic limit. Neither: 2000
  std::optional<double> seconds;            // wall time
  double first_temperature_share =
      0.001;  // annealing temperature as a share of the best makespan so far; falls geometrically ...
  double last_temperature_share = 0.00005;  // ... to this one
  std::vector<PlacementStart> starts;       // beside those it has of its own
  PlacementJudge judge = PlacementJudge::kContended;
  bool keep_order = false;           // starts keep their priorities, empty ones being the order of readiness
  bool own_starts = true;            // false: those given alone, in their orders
  MoveProposer* proposer = nullptr;  // not owned; null: all moves are by chance
  int tries = 50;                    // moves between two of its looks at the plan, at least
  double proposed = 0.5;             // share of the moves that are its own, while it has any
  std::stop_token stop = {};         // asked: it ends as if its time were over
};

struct FoundPlacement {
  Assignment assignment;
  double makespan = 0;           // as judged
  std::int64_t evaluations = 0;  // that the search took
};

// Simulated annealing over placements, whose sequence is always that of SchedulePlaced: by readiness, by upward rank or
// by the priorities of a start, whichever is best at the start (keep_order: readiness, or those of the best start).
// Begins at the best of the starts given, everything on one device, PlaceByLayers, PlaceByPartition, PlaceUntilFull and
// HEFT's placement, each in all orders (placement_orders.h), too, unless the options say otherwise. Starts take a third
// of the evaluations or of the seconds at most. Where it has starts of its own and the graph repeats itself, whole
// parts are moved next (role_descent.h). Other moves are those of MovingPlacement, by chance or proposed. Placements
// that do not fit in memory are no answers: nothing where all starts are such. Throws Interrupted.
std::optional<FoundPlacement> SearchPlacement(const CostedGraph& costed, const PlacementSearchOptions& options,
                                              Random& random);

}  // namespace millrace
