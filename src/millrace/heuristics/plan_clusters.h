// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "millrace/cost/cost_model.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// Clusters along a plan: groups that it runs one after the other on a device, where neither what one of them hands over
// nor what the next one reads crosses to another device. Joined they start and finish as before, so a search over
// clusters goes on from a plan of a large graph without losing what it has. Clusters of the graph alone
// (acyclic_clusters.h) bind what that plan had better keep apart: on training graphs of 12,000 groups it was a tenth
// longer over them. Seconds.
namespace millrace {

struct ClusteredPlan {
  std::shared_ptr<const CostedGraph> costed;  // each cluster a group, in the order of the plan
  Assignment assignment;
};

// The clusters of a plan of `costed`, whose model is `model`. Groups of a cluster can run on the same devices and are
// of one colocation at most; a cluster has no more work than two of `wanted` even ones, if it has more than one group.
// The plan of clusters takes as long as the given one, but where transfers contend and several are ready at the same
// time. A memory may have to hold more at a time. O(groups x devices + edges).
ClusteredPlan ClusterAlongPlan(const CostModel& model, const CostedGraph& costed, const Assignment& plan, int wanted);

// The way back: a plan of `costed`, whose groups these clusters are made of. Each group runs where its cluster does, in
// the cluster's turn; those of a cluster as they follow each other in `order`, a valid sequence of `costed`. What a
// group hands over leaves when the group ends, not its cluster. O(groups log groups + ops).
Assignment SpreadOverGroups(const CostedGraph& clusters, const Assignment& plan, const CostedGraph& costed,
                            std::span<const int> order);

}  // namespace millrace
