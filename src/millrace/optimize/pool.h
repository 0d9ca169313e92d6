// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/fusion/fusion_options.h"
#include "millrace/optimize/candidate.h"
#include "millrace/planning/registry.h"

// The candidate pool: every planner's plans for every way of fusing, priced by the proxy.
namespace millrace {

// The groups of some of the pool's plans.
struct PoolFusion {
  std::string name;  // a FusionOption's, or that of the planner that chose them
  CostedGraph costed;
  bool open_to_all = true;  // false: a planner's own choice, for a plan of its own
};

struct PoolOptions {
  std::vector<std::string> methods;        // planners by name; empty: PlannerRegistry::PoolNames
  PlannerSettings settings = {};           // of those that declare such options
  std::int64_t samples = 1000;             // plans of planners that draw, for each way of fusing
  std::optional<std::int64_t> iterations;  // steps of each search; by default its own choice
  std::optional<double> seconds;           // wall time of all of it
  std::size_t keep_per_planner = 64;       // best plans of one planner and way of fusing that stay
  bool share_starts = false;               // searches begin at the best plan of the heuristics asked here
  Random random{0};                        // every planner begins with a copy: alone it would plan the same
};

// One plan of the pool, as an assignment of the groups of its fusion.
struct PoolEntry {
  int fusion = 0;  // index into Pool::fusions
  std::string method;
  Assignment assignment;
  double proxy_seconds = 0;
};

struct Pool {
  std::vector<PoolFusion> fusions;
  std::vector<PoolEntry> entries;     // each valid and within memory; in order of fusion, planner, makespan
  std::int64_t proposed = 0;          // plans that planners offered
  std::int64_t infeasible = 0;        // of those, plans that were good enough to look at and did not fit in memory
  std::vector<std::string> too_slow;  // methods that were not asked because their first plan would not come in time

  // The part of a search's usual time that this way of fusing is worth: less where its fastest plan is clearly behind
  // that of another.
  double ShareOf(int fusion) const;

  // The number of these groups, under which they are added if the pool has not got them.
  int NumberOf(PoolFusion fusion);
};

// What a pool tells while it is made.
struct PoolWatch {
  // A method begins; `done` of `total` have ended. At the end once more, without a method.
  std::function<void(std::string_view method, int done, int total)> progress = [](auto&&...) {};

  // Asked after each method that found a faster plan than all before it: is that enough? Null: never.
  std::function<bool(const Pool&)> enough = nullptr;
};

// Plans of every method for every way of fusing: first the methods that draw nothing, so that a good plan is there
// early; then those that draw or search, by their traits' shares. Methods that choose fusion are asked once, with
// fusion open; where no methods are named, a local search begins at the best plan of each of them, METHOD+local-search,
// since nobody else searches under its groups. Where none are named and the model knows times of groups, those that
// choose among all groups (PlannerTraits) are left out.
//
// Of `seconds` those that draw or search have their shares of what is left when their turn comes. A method whose first
// plan would take too much of it is left out, by what its traits expect and by how much longer than expected others
// took; and so are, unless nothing else remains, those for which the problem is too large. The first method is always
// asked. Throws InvalidInput for a method that is not in the registry, Interrupted.
Pool MakePool(const CostModel& model, const PlannerRegistry& planners, const std::vector<FusionOption>& fusions,
              const PoolOptions& options, const PoolWatch& watch);

// The fusion options that the pool's plans were made for.
std::vector<FusionOption> OpenFusions(const Pool& pool);

// The entry as a plan to be measured.
Candidate MakeCandidate(const Pool& pool, const PoolEntry& entry);

}  // namespace millrace
