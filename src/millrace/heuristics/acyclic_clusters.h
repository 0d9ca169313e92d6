// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "millrace/cost/cost_model.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// Clusters of groups that can be groups themselves: a graph of them has no cycles. What is searched over a few thousand
// of these would be hopeless over all groups of a large graph.
//
// Rounds join pairs of clusters along their dearest edges, weighed as in cluster_levels.h, where the edge is the only
// way out of its first cluster or the only way into its second: then no path leads around it, whatever else is joined.
// Pairs beside which a path may lead are let be even where that could be ruled out. What they tie together, ops of one
// step that nothing but their place in the graph has in common, had better be parted: in trials plans for clusters
// that were made from level to level, too, were up to a quarter longer.
namespace millrace {

// Graphs of more groups are searched by clusters first, of which there are so many, or more where not all may join.
inline constexpr int kMostGroupsSearched = 2000;
inline constexpr int kClustersSearched = 800;

// Their ops, by cluster in the topological order of their first groups; at least `fewest` clusters, unless there are
// fewer groups, and more where no more pairs may be joined. Groups of a cluster can run on the same devices, and are of
// one colocation at most; with a `placement`, by group, they are on one device of it, so that clusters have it, too.
// O((groups + edges) log edges) for each of O(log groups) rounds.
FusionGroups MakeAcyclicClusters(const CostedGraph& costed, int fewest, std::span<const int> placement = {});

// The graph of clusters of these groups, each a group that takes what its groups take one after the other. `model` is
// that of `costed`. Seconds.
CostedGraph GraphOfClusters(const CostModel& model, const CostedGraph& costed, FusionGroups clusters);

// The graph of the clusters above.
CostedGraph MakeClusteredGraph(const CostModel& model, const CostedGraph& costed, int fewest,
                               std::span<const int> placement = {});

}  // namespace millrace
