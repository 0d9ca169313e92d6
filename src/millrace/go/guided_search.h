// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "millrace/go/decoder.h"
#include "millrace/go/policy.h"
#include "millrace/random/random.h"

// A search for placements by the proxy (search/placement_search.h) that asks GO's policy which moves to try
// (go/moves.h). Seconds.
namespace millrace {

struct GuidedSearchOptions {
  int looks = 160;  // at the plans that it comes to, where there is no time limit; fewer of large graphs
  double moves_temperature = 0.15;  // of moves that are tried
  int threads = 1;                  // of the policy
  std::optional<double> seconds = std::nullopt;
  double most_seconds = 0;  // where the graph is so large that whole parts of it could not be moved in `seconds`
};

// Searches on from `drawn`, the best draw of a policy, if there is one, or from the placement by hand where that is
// faster in the best of its orders. Where the decoder chooses the groups these are those of the draw, or greedy ones,
// or merged ones (fusion/merged_fusion.h), or such as suit the placement of single ops by hand
// (search/fuse_for_plan.h), whichever a short search leads furthest; later ops are joined anew for the plan that it
// has come to. Of a graph of many groups it searches over all of them or over clusters (heuristics/acyclic_clusters.h),
// whichever leads further; where it sees fewer plans than there are groups its temperatures are lower. Never slower by
// the proxy than where it begins. Where no placement fits in memory it is that by hand, with infinity for its time.
// Throws Interrupted.
DecodedPlan SearchGuided(const GoDecoder& decoder, const GoPolicy& policy, const GuidedSearchOptions& options,
                         const std::optional<DecodedPlan>& drawn, Random& random);

}  // namespace millrace
