// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "millrace/planning/best_of.h"

// The best plan there is, proven, for small graphs: branch and bound under the linear proxy, transfers, gangs,
// colocations and memory limits included. Seconds.
//
// It begins with what can be proved without a search (simulate/proven_bound.h) and what every better plan has in common
// (simulate/narrowed.h). Then three searches take turns and share the best plan: one appends groups in order of their
// starts, one does so backwards, from the end of the plan (exact_engine.h), and one divides the problem by which groups
// share a device (exact_parts.h). The first that ends has proved the best plan; until then the largest of their bounds
// holds. Where memory has a limit nothing is the same backwards, and that search is left out.
//
// Under the contended proxy the search is for the optimum without waiting for links and without memory limits. That
// bounds every plan; the best plan met is proven only where it takes no longer.
namespace millrace {

struct ExactOptions {
  std::optional<std::int64_t> nodes;                // of all searches, which end with the turn that passes it
  std::optional<double> seconds;                    // wall time
  std::int64_t default_nodes = 2'000'000;           // where neither limit is named
  int threads = 1;                                  // two make most of the difference
  std::size_t memo_bytes = std::size_t{256} << 20;  // of states met, for each of the first two searches
  std::optional<Assignment> start;                  // the plan to begin with, valid, memory aside; else an annealed one
};

struct ExactResult {
  std::optional<RatedAssignment> best;  // fits in memory; none where no plan was met that does
  double bound = 0;                     // no plan that fits takes less; infinite where none exists
  bool proven = false;                  // best is the optimum, or no plan fits
  std::int64_t nodes = 0;
};

constexpr int kMostExactGroups = 128;

// Begins with a plan, so it is anytime. Throws InvalidInput above kMostExactGroups. The same generator gives the same
// result at any number of threads unless `seconds` is set. StopIfInterrupted now and then.
ExactResult SolveExactly(const CostedGraph& costed, const ExactOptions& options, Random& random);

// The planner `exact`: offers the best plan found, proven or not; where none that fits in memory was met, the plan
// it began with. Budget: `iterations` nodes, or `seconds`.
PlannerTraits ExactTraits();
std::unique_ptr<Planner> MakeExact(const ExactOptions& options = {});

}  // namespace millrace
