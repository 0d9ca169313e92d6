// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/heuristics/candidate_source.h"

// Runs a source and keeps the best of what it offers: the proxy filter every verb and the optimiser use. Seconds.
namespace millrace {

struct RatedAssignment {
  Assignment assignment;
  double makespan = 0;  // by the linear proxy, simulated again whatever the source believed
};

struct BestOf {
  std::vector<RatedAssignment> kept;  // fit in memory, all different, ascending by makespan, equal ones as offered
  std::int64_t offered = 0;
  std::int64_t overfull = 0;          // looked good enough to keep and did not fit
  std::vector<double> nearest_peaks;  // by memory: of the offer that overflowed the least; empty without one
  Assignment nearest;                 // that offer
  bool frugal = false;                // changed or made to fit: nothing the source offered did (feasible.h)
};

// Keeps the `most` best offers. StopIfInterrupted between offers.
BestOf RunSource(const CandidateSource& source, const CostedGraph& costed, const SourceBudget& budget, Random& random,
                 std::size_t most);

// The same where the source is shown another version of the graph than the one its offers are judged by: other
// capacities, say, or other times. Both have the same groups and devices.
BestOf RunSourceShown(const CandidateSource& source, const CostedGraph& shown, const CostedGraph& costed,
                      const SourceBudget& budget, Random& random, std::size_t most);

}  // namespace millrace
