// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "millrace/planning/best_of.h"

// The best plan there is, proven, for small graphs: branch and bound under the linear proxy, transfers, gangs,
// colocations and memory limits included. Seconds.
//
// A node of the search is a schedule of some groups, made by appending in order of their starts, since every timeline
// comes about that way; its children append one more group somewhere. A node is given up where its bound reaches the
// best plan known: unscheduled groups start no earlier than the last one appended, after what is known of their
// predecessors and the units of their fastest way out, and what they need at least must fit on the units. Of devices
// that can stand for one another only the first unused one is tried; where all transfers are free, one of those from
// which a group would start alike.
namespace millrace {

struct ExactOptions {
  std::optional<std::int64_t> nodes;       // of the search
  std::optional<double> seconds;           // wall time
  std::int64_t default_nodes = 2'000'000;  // where neither limit is named
  std::optional<Assignment> start;         // the plan to begin with, valid, memory aside; else an annealed one
};

struct ExactResult {
  std::optional<RatedAssignment> best;  // fits in memory; none where no plan was met that does
  double bound = 0;                     // no plan that fits takes less; infinite where none exists
  bool proven = false;                  // the whole tree was searched: best is the optimum
  std::int64_t nodes = 0;
};

constexpr int kMostExactGroups = 128;

// Begins with a plan, so it is anytime. Throws InvalidInput above kMostExactGroups. The same generator gives
// the same result unless `seconds` is set. StopIfInterrupted now and then.
ExactResult SolveExactly(const CostedGraph& costed, const ExactOptions& options, Random& random);

// The planner `exact`: offers the best plan found, proven or not; where none that fits in memory was met, the plan
// it began with. Budget: `iterations` nodes, or `seconds`.
PlannerTraits ExactTraits();
std::unique_ptr<Planner> MakeExact(const ExactOptions& options = {});

}  // namespace millrace
