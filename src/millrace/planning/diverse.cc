// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/diverse.h"

#include <algorithm>
#include <utility>

#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"

namespace millrace {

std::vector<std::size_t> DiverseTopK(std::size_t count, const DiverseOptions& options,
                                     const std::function<double(std::size_t, std::size_t)>& distance) {
  std::vector<std::size_t> taken, passed_over;
  const auto far = [&](std::size_t plan, const auto& enough) {
    return std::all_of(taken.begin(), taken.end(), [&](std::size_t other) { return enough(distance(plan, other)); });
  };
  for (std::size_t plan = 0; plan < count && taken.size() < options.keep; ++plan) {
    const bool different = far(plan, [&options](double apart) { return apart >= options.least_distance; });
    (different ? taken : passed_over).push_back(plan);
  }
  for (const std::size_t plan : passed_over) {
    if (taken.size() >= options.keep) break;
    if (options.repeats || far(plan, [](double apart) { return apart > 0; })) taken.push_back(plan);
  }
  return taken;
}

std::vector<RatedAssignment> SelectDiverse(const CostedGraph& costed, std::vector<RatedAssignment> plans,
                                           const DiverseOptions& options) {
  // Of the plans that are looked at, which are the first ones.
  std::vector<std::vector<std::pair<int, int>>> edges;
  const auto edges_of = [&](std::size_t plan) -> const std::vector<std::pair<int, int>>& {
    while (edges.size() <= plan) edges.push_back(ChainEdges(costed.topology, plans[edges.size()].assignment));
    return edges[plan];
  };
  std::vector<std::size_t> chosen = DiverseTopK(plans.size(), options, [&](std::size_t plan, std::size_t other) {
    edges_of(std::max(plan, other));
    return ChainEditDistance(edges[plan], edges[other]);
  });
  std::sort(chosen.begin(), chosen.end());
  std::vector<RatedAssignment> selected;
  selected.reserve(chosen.size());
  for (const std::size_t plan : chosen) selected.push_back(std::move(plans[plan]));
  return selected;
}

}  // namespace millrace
