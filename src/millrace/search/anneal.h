// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "millrace/planning/planner.h"
#include "millrace/search/moves.h"

// Simulated annealing over assignments: the strong, plain search that anything cleverer has to beat.
//
// Chains of local search (local_search.h), one after the other: the first from the best heuristic plan (start.h),
// further ones from perturbed list schedules; or one from each plan given to it. One long chain does better than
// several short ones within the same time. A chain is made of rounds, each longer than the one before, from hot to
// cold, from the best plan so far: what it does with some iterations is the beginning of what it does with more, which
// therefore never find a worse plan. Reheating to little warmth and moves of whole clusters (moves.h) made the
// difference in trials. Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing", 1983.
namespace millrace {

struct AnnealOptions {
  // In one group's share of the starting makespan, as LocalSearchOptions has it.
  double first_annealing_temperature = 0.3;
  double last_annealing_temperature = 0.05;
  double hot_annealing_temperature = 1;  // where warm rounds stop to gain: dear transfers need it
  bool rounds = true;                    // false: one, cooled over the whole budget
  // Changes tried per group in a short, cool round before all others, and in the first hot one; each further round has
  // so many times those of the one before.
  std::int64_t opening_round = 12;
  double opening_annealing_temperature = 0.3;
  std::int64_t first_round = 96;
  double growth = 1.4;
  // Where the budget names neither limit: changes tried x groups and edges of the graph, over all chains.
  std::int64_t visits = 600'000'000;
  int chains = 1;
  std::stop_token stop = {};            // asked: it ends as if its time were over
  std::vector<Assignment> starts = {};  // valid for the costed graph, memory aside; with any, a chain for each
  MoveMix moves = {};
};

// The planner `anneal`: offers the best plan of each chain. Budget: `iterations` changes tried, or `seconds`, divided
// evenly among the chains.
PlannerTraits AnnealingTraits();
std::unique_ptr<Planner> MakeAnnealing(const AnnealOptions& options = {});

// The planner `anneal-plain`, to hold others against: one cooling from hot to cold, no clusters, no exchanges.
PlannerTraits PlainAnnealingTraits();
std::unique_ptr<Planner> MakePlainAnnealing();

}  // namespace millrace
