// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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
  std::int64_t samples = 1000;             // plans of planners that draw, over all ways of fusing
  std::optional<std::int64_t> iterations;  // steps of each search; by default its own choice
  std::optional<double> seconds;           // that each planner that draws or searches may take
  std::size_t keep_per_planner = 64;       // best plans of one planner and way of fusing that stay
  Random random{0};                        // each planner has a stream of its own
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
  std::vector<PoolEntry> entries;  // each valid and within memory; in order of fusion, planner, makespan
  std::int64_t proposed = 0;       // plans that planners offered
  std::int64_t infeasible = 0;     // of those, plans that were good enough to look at and did not fit in memory
};

// Plans of every method for every way of fusing. Methods that choose fusion are asked once, after all others, with
// fusion open; where no methods are named, a local search begins at the best plan of each, METHOD+local-search, since
// nobody else searches under its groups. `progress` is told (done, total) after each planner. Throws InvalidInput for a
// method that is not in the registry, Interrupted.
Pool MakePool(const CostModel& model, const PlannerRegistry& planners, const std::vector<FusionOption>& fusions,
              const PoolOptions& options, const std::function<void(int, int)>& progress);

// The fusion options that the pool's plans were made for.
std::vector<FusionOption> OpenFusions(const Pool& pool);

// The entry as a plan to be measured.
Candidate MakeCandidate(const Pool& pool, const PoolEntry& entry);

}  // namespace millrace
