// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"

// Clusters of groups that had better stay on one device, in levels from fine to coarse. A good placement is hardly ever
// found by moving one group at a time: each such move only adds transfers.
//
// Levels are nested. Each is made from the one before it by joining pairs of clusters along their dearest edges, where
// the seconds of the transfers between two clusters are weighed against the work in them, so that clusters of a level
// are about equally heavy. This is the heavy-edge matching of multilevel partitioners: Karypis, Kumar, "A fast and high
// quality multilevel scheme for partitioning irregular graphs", SIAM J. Scientific Computing 1998.
namespace millrace {

// One partition of all groups.
struct ClusterLevel {
  std::vector<std::int32_t> cluster_of;  // by group; clusters are numbered by their first group in topological order
  std::vector<std::int32_t> offsets;     // by cluster, into members; one more at the end
  std::vector<std::int32_t> members;     // groups, in topological order within a cluster

  int num_clusters() const { return static_cast<int>(offsets.size()) - 1; }
  std::span<const std::int32_t> Members(std::int32_t cluster) const {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(cluster)]);
    const auto end = static_cast<std::size_t>(offsets[static_cast<std::size_t>(cluster) + 1]);
    return std::span(members).subspan(begin, end - begin);
  }
};

// Finest first, where only colocations are joined; the coarsest has at least `fewest` clusters, unless the finest has
// fewer. Never empty. O((groups + edges) log edges) for each of O(log groups) levels.
std::vector<ClusterLevel> MakeClusterLevels(const CostedGraph& costed, int fewest);

// The same, but that the finest level is given: by group the number of its cluster, below num_groups. Groups that must
// share a device may be in several.
std::vector<ClusterLevel> MakeClusterLevels(const CostedGraph& costed, std::vector<std::int32_t> finest, int fewest);

}  // namespace millrace
