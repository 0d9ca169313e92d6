// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/experiments/go/go_row.h"
#include "millrace/planning/registry.h"

// The ways of planning the GO paper's workloads that are held against each other: planners of the registry, and a few
// others that are named for what they are. Seconds.
namespace millrace {

// Contended seconds of a plan that does not fit in memory.
inline constexpr double kOutOfMemory = std::numeric_limits<double>::infinity();

struct GoPlan {
  std::shared_ptr<const CostedGraph> costed;  // of its groups; at the latest gone with the row
  Assignment assignment;
};

// Of a graph that the row owns.
std::shared_ptr<const CostedGraph> OwnedByRow(const CostedGraph& costed);

struct GoMethod {
  std::string name;
  std::string budget = "-";            // what it may spend, for people
  bool seeded = false;                 // its plans depend on the seed
  std::optional<double> seconds = {};  // wall time it may take, where that is limited
  std::string as_long_as = {};         // name of a method before it: it may take the seconds that one took
  // What comes before planning and is not counted: weights that other workloads share. Null: nothing.
  std::function<void(const GoRow&, std::uint64_t seed)> prepare = {};
  // Nothing where it finds no plan. Plans that do not fit in memory are handed out, too: the judge says so. The last
  // one: the seconds it may take.
  std::function<std::optional<GoPlan>(const GoRow&, std::uint64_t seed, std::optional<double>)> plan = {};
};

// Which fusion a planner is asked to plan for: GreedyFusion's groups, as frameworks fuse, or its own choice.
enum class GoFusion { kGreedy, kOpen };

// The planner for a workload: the same for all, or one whose weights are meant for it and this seed.
using GoPlannerFor = std::function<std::shared_ptr<const Planner>(const GoRow&, std::uint64_t seed)>;

// What a planner offers. The `measured` best by the proxy are tried on the target, and the fastest there is the answer;
// 1: the proxy alone decides.
struct GoPlanned {
  std::string name;
  GoPlannerFor planner;
  Budget budget = {};
  GoFusion fusion = GoFusion::kGreedy;
  std::size_t measured = 1;
};
GoMethod MakeGoMethod(const GoPlanned& planned);

// The planner of this name in the registry.
GoPlannerFor PlannerNamed(const PlannerRegistry& planners, const std::string& name);

// A contended search, which asks the target about every placement it tries (search/placement_search.h), from its own
// starts and with greedy fusion.
GoMethod ContendedSearch(std::string name, double seconds);

// The method, with the seconds that the named one took in place of a limit of its own.
GoMethod AsLongAs(const std::string& other, GoMethod method);

// All of optimize/optimize.h with the target sim:contention. The registry must outlive it.
GoMethod Optimized(std::string name, const PlannerRegistry& planners, std::vector<std::string> methods, double seconds,
                   int threads = 1);

// `single`, everything on one device, and `tf-default`, on the next once a memory is full, in order of readiness; by
// the registry's planners of these names `expert`, the human placement, and `metis`, both in the best of all orders by
// the proxy, `heft`, `etf`, `anneal` and, with fusion open, `anneal+fusion`; `contended-search` and `optimize`, on one
// thread as the others and as `optimize-2-threads`. Searches take so many seconds.
std::vector<GoMethod> GoBaselines(const PlannerRegistry& planners, double search_seconds);

}  // namespace millrace
