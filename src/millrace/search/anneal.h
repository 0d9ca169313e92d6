// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/planning/planner.h"
#include "millrace/search/moves.h"

// Simulated annealing over assignments: the strong, plain search that anything cleverer has to beat.
//
// Chains of local search (local_search.h) at falling temperature, one after the other: the first from HEFT, further
// ones from perturbed list schedules; or one from each plan given to it. One long chain does better than several short
// ones within the same time. Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing", 1983.
namespace millrace {

struct AnnealOptions {
  double first_annealing_temperature =
      1;  // in one group's share of the starting makespan, as LocalSearchOptions has it
  double last_annealing_temperature = 0.1;
  // Where the budget names neither limit: changes tried x groups and edges of the graph, over all chains.
  std::int64_t visits = 600'000'000;
  int chains = 1;
  std::vector<Assignment> starts = {};  // valid for the costed graph, memory aside; with any, a chain for each
  MoveMix moves = {};
};

// The planner `anneal`: offers the best plan of each chain. Budget: `iterations` changes tried, or `seconds`, divided
// evenly among the chains.
PlannerTraits AnnealingTraits();
std::unique_ptr<Planner> MakeAnnealing(const AnnealOptions& options = {});

}  // namespace millrace
