// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/planning/planner.h"
#include "millrace/search/anneal.h"

// Annealing with fusion open: placement, order and groups.
//
// Groups that are chosen before anything is placed tie ops together that had better run apart, side by side on two
// devices or one early and one late; and groups chosen op by op within a search make every step dear. So ops are placed
// alone, and those that end up on one device join as far as the plan is no longer for it (fuse_for_plan.h). Where a
// search begins decides more than how long it goes on, so several begin: from placements by heuristics, made over
// single ops and over the groups of merged fusion, and from an annealing over single ops, each priced by its share in
// its merged group (fusion/fused_shares.h). Each anneals for a while over its own groups, the faster half goes on for
// twice as long, and so on; the last one has what is left. A plan that is known already joins when one of them is left,
// since it has been searched for longer. Where no two ops could join it is annealing.
//
// A search over thousands of groups ends before it has moved each of them often enough. So large graphs are searched
// as graphs of some hundred clusters first (heuristics/acyclic_clusters.h), each a group that takes what its merged
// groups take, from heuristics and, where transfers contend, from a search for placements. The placement by hand begins
// over clusters of its own, none of which it tears apart; a plan that is known over clusters along it
// (heuristics/plan_clusters.h) in place of all heuristics. Groups for the plan that this comes to are chosen among all
// ops, and annealing goes on over these; over the groups that the clusters are made of, or from the placement by hand,
// where that is faster. The idea is that of multilevel partitioners.
namespace millrace {

// The planner `anneal+fusion`: offers the fastest of what heuristics began, then its best plan. Budget as that of
// `anneal`; more iterations are another search and may end in a slower plan. Where fusion is not open it is annealing.
PlannerTraits AnnealingFusionTraits();
std::unique_ptr<Planner> MakeAnnealingFusion(const AnnealOptions& options = {});

// Is there time for it on a graph of such groups, which it prices anew some dozen times?
bool TimeToOpenFusion(const CostedGraph& costed, double seconds);

}  // namespace millrace
