// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

// What a caller may want to know of a planner before it asks for plans.
namespace millrace {

// A number, or several, that a planner can be told when it is made: a command-line flag of its name.
struct PlannerOption {
  std::string name;     // "temperature"
  std::string meaning;  // one line
  double least = 0;     // smallest and largest value it takes
  double most = 0;
  std::string usual = {};  // what holds without it, for people: "0.01,0.04", or in words
  bool several = false;    // a list of numbers
  bool whole = false;      // no fractions
};

struct PlannerTraits {
  std::string name;                // as flags and files say it, "heft"
  std::string meaning = {};        // one line for people
  bool one_answer = false;         // offers one plan whatever the budget, at about the cost of a few simulations
  bool takes_samples = false;      // Budget::samples says how many plans it makes
  bool takes_iterations = false;   // Budget::iterations says how long it searches
  bool chooses_fusion = false;     // plans for problems where fusion is open
  bool any_groups = false;         // chooses among all groups: not asked in a pool that knows times of some groups, as
                                   // it would believe those that nobody timed
  bool learned = false;            // its plans depend on weights
  std::int64_t usual_samples = 1;  // asked for where nobody says how many
  bool goes_on = false;            // a pool's best plan is searched on by it: where transfers do not contend, or, if it
                                   // chooses fusion, where ops can be fused
  bool in_pool = true;             // one of those a pool is made of unless methods are named
  // Groups and edges of the largest problem it is worth asking in a pool.
  std::int64_t most_pool_visits = std::numeric_limits<std::int64_t>::max();
  // About what it takes to offer its first plan, which no time limit cuts short, on the machine of
  // docs/results/search.md: for each edge of the problem, and for each group on each device. Callers scale it by what
  // they see.
  double seconds_per_visit = 3e-7;
  // Of time that a pool shares out among planners that draw or search; those with larger shares are asked earlier.
  double pool_share = 1;

  std::vector<PlannerOption> options = {};

  // Does it offer the same plans whatever the budget, as far as time allows?
  bool fixed() const { return !takes_samples && !takes_iterations; }
};

}  // namespace millrace
