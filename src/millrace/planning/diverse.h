// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "millrace/planning/best_of.h"

// Choosing plans that are good and different: a proxy is wrong in the same way for plans that are alike.
namespace millrace {

struct DiverseOptions {
  std::size_t keep = 16;
  double least_distance = 0.05;  // below it two plans count as one, 0..1
  bool repeats = false;          // may places left over go to plans at distance 0 from a taken one?
};

// Numbers of at most options.keep of `count` plans, which are numbered best first: walking down, one is taken when it
// is at least least_distance away from every taken one; places left over go to the best of the rest. In the order they
// were taken. `distance` of two plans, 0..1.
std::vector<std::size_t> DiverseTopK(std::size_t count, const DiverseOptions& options,
                                     const std::function<double(std::size_t, std::size_t)>& distance);

// The same of plans of one graph, which ascend by makespan and stay in this order, by ChainEditDistance.
std::vector<RatedAssignment> SelectDiverse(const CostedGraph& costed, std::vector<RatedAssignment> plans,
                                           const DiverseOptions& options);

}  // namespace millrace
