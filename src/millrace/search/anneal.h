// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/heuristics/candidate_source.h"

// Simulated annealing over assignments: the strong, plain search that anything cleverer has to beat.
//
// A chain starts from a list schedule and proposes small changes, each priced by simulating the whole timeline: move a
// group within the sequence, between its last predecessor and its first successor; run a group elsewhere; run a
// stretch of the sequence, or a path of the graph, on one device, so that a branch can change sides or join a gang in
// one step. A change that makes the plan slower by d is taken with probability exp(-d / T); T falls geometrically. On a
// machine with memory limits, a change that does not fit is never taken from a plan that does.
// Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing", 1983.
namespace millrace {

struct AnnealOptions {
  double first_temperature = 0.02;  // share of the starting makespan
  double last_temperature = 1e-5;
  std::int64_t visits = 400'000'000;  // of groups and edges, over all chains, where the budget names neither limit
  int chains = 4;                     // started one after the other from different list schedules
};

// The source `anneal`: offers the best plan of each chain. Budget: `iterations` proposals, or `seconds`, over all
// chains.
std::unique_ptr<CandidateSource> MakeAnnealing(const AnnealOptions& options = {});

}  // namespace millrace
