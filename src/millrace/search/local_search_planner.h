// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "millrace/planning/planner.h"
#include "millrace/search/local_search.h"

// Another planner's plans as starts of a local search: a sampler says where to look, the search goes to the bottom. A
// little of the budget finds out which start leads furthest; the rest goes to the plan it led to, which is warmed up
// and improved again, round after round. Where transfers are dear good plans are further apart: rounds are hotter then,
// and longer.
namespace millrace {

struct LocalSearchPlannerOptions {
  double sample_share = 0.2;     // of the seconds, where these are limited: what the planner may take
  std::int64_t samples = 256;    // that the planner is asked for, at most
  int starts = 4;                // the best of them that differ, each improved
  double least_distance = 0.02;  // planning/diverse.h
  LocalSearchOptions improving;  // its limits come from the budget

  int most_rounds = 16;      // after the starts; 0: these have all of the budget, in even shares
  double start_share = 0.2;  // of the search, what all starts take together where rounds follow

  // Where a round begins and the last one ends, as LocalSearchOptions has it, and the changes a group that a round has
  // to try for more rounds to be made. Both the beginning and the changes are so many times as much as the mean
  // transfer has seconds for one of the mean group, between once and `most_heat` times.
  double round_annealing_temperature = 0.5;
  double last_annealing_temperature = 0.01;
  std::int64_t round_changes = 2000;
  double most_heat = 4;
};

// Offers the planner's `samples` best plans that fit in memory, then the improved ones, those of the starts and those
// of the rounds. Budget: `iterations` changes tried, or `seconds` of everything together; `samples` below the option's
// are heeded. A planner that does not stop in time takes from the search's share.
std::unique_ptr<Planner> MakeLocalSearchPlanner(PlannerTraits traits, std::shared_ptr<const Planner> planner,
                                                const LocalSearchPlannerOptions& options);

}  // namespace millrace
