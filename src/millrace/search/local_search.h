// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "millrace/planning/best_of.h"
#include "millrace/random/random.h"
#include "millrace/search/moves.h"

// Local search from a given plan by the proxy: small changes (moves.h), each priced by what it touches (live_plan.h,
// contended_live_plan.h). A change that
// makes the plan slower by d is taken with probability exp(-d / T); T falls geometrically. At temperature 0 it is pure
// descent over plateaus, at a low one a warm annealing of, say, a sampled plan, at a high one annealing.
// Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing", 1983.
namespace millrace {

// Temperatures count in one group's share of the starting plan, its makespan over the number of groups: so they suit
// plans of any size.
struct LocalSearchOptions {
  double first_annealing_temperature = 0.3;  // 0: descent
  double last_annealing_temperature = 0.1;   // at most the first is used
  std::optional<std::int64_t> iterations;    // changes tried
  std::optional<double> seconds;             // wall time
  std::int64_t iterations_per_group = 300;   // where neither limit is named
  std::stop_token stop = {};                 // asked: the search ends as if its time were over
  MoveMix moves;
};

// Improves one plan after the other of one costed graph, which must outlive it. One object serves one thread.
class LocalSearch {
 public:
  explicit LocalSearch(const CostedGraph& costed);
  ~LocalSearch();

  // The best plan met, the start included: one that fits in memory before one that does not, then by makespan. A change
  // that does not fit is never taken from a plan that does. `start` must be valid, memory aside. The same start,
  // options and generator give the same plan unless `seconds` is set. StopIfInterrupted now and then.
  RatedAssignment Improve(Assignment start, const LocalSearchOptions& options, Random& random);

  std::int64_t changes_tried() const { return changes_tried_; }  // by the last Improve

 private:
  struct Workspace;

  template <typename Live>
  RatedAssignment ImproveLive(Live& plan, Assignment start, const LocalSearchOptions& options, Random& random);

  const CostedGraph& costed_;
  std::unique_ptr<Workspace> workspace_;
  std::int64_t changes_tried_ = 0;
};

}  // namespace millrace
