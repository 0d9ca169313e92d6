// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/different.h"

#include <algorithm>
#include <utility>

#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"

namespace millrace {

std::vector<RatedAssignment> SelectDifferent(const CostedGraph& costed, std::vector<RatedAssignment> plans,
                                             std::size_t keep, double least_distance) {
  std::vector<std::vector<std::pair<int, int>>> taken;
  std::vector<std::size_t> chosen, passed_over;
  for (std::size_t i = 0; i < plans.size() && chosen.size() < keep; ++i) {
    std::vector<std::pair<int, int>> edges = ChainEdges(costed.topology, plans[i].assignment);
    const bool far = std::all_of(taken.begin(), taken.end(), [&](const std::vector<std::pair<int, int>>& other) {
      return ChainEditDistance(edges, other) >= least_distance;
    });
    if (!far) {
      passed_over.push_back(i);
      continue;
    }
    taken.push_back(std::move(edges));
    chosen.push_back(i);
  }
  const std::size_t missing = std::min(keep - chosen.size(), passed_over.size());
  chosen.insert(chosen.end(), passed_over.begin(), passed_over.begin() + static_cast<std::ptrdiff_t>(missing));
  std::sort(chosen.begin(), chosen.end());
  std::vector<RatedAssignment> selected;
  for (const std::size_t i : chosen) selected.push_back(std::move(plans[i]));
  return selected;
}

}  // namespace millrace
