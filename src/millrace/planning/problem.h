// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/cost_model.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// What a planner is asked to plan: a graph on a machine, under a proxy, and which fusion groups its plans may have.
namespace millrace {

// Refers to what it is made of, which must outlive it.
class PlanningProblem {
 public:
  // Plans have the groups of `costed`: a graph with its groups priced is a problem as it is.
  PlanningProblem(const CostedGraph& costed) : costed_(&costed) {}  // NOLINT(google-explicit-constructor)

  // The same, with the proxy the groups were priced by: planners that look at single ops ask for it.
  PlanningProblem(const CostModel& proxy, const CostedGraph& costed) : proxy_(&proxy), costed_(&costed) {}

  // Fusion is open: plans may have any legal groups. For planners that choose fusion (PlannerTraits) alone.
  explicit PlanningProblem(const CostModel& proxy) : proxy_(&proxy) {}

  // The same problem with another version of the groups' costs or of the memories' capacities.
  PlanningProblem WithGroups(const CostedGraph& costed) const {
    PlanningProblem other(*this);
    other.costed_ = &costed;
    return other;
  }

  // The same problem with a good plan of its groups that is known already, which must outlive it: searches begin there
  // instead of looking for a start of their own.
  PlanningProblem WithStart(const Assignment& start) const {
    PlanningProblem other(*this);
    other.start_ = &start;
    return other;
  }

  // Where fusion is open: a plan of these groups, which must outlive it, too.
  PlanningProblem WithStart(const CostedGraph& groups, const Assignment& start) const {
    PlanningProblem other = WithStart(start);
    other.start_groups_ = &groups;
    return other;
  }

  PlanningProblem WithoutStart() const {
    PlanningProblem other(*this);
    other.start_ = nullptr;
    other.start_groups_ = nullptr;
    return other;
  }

  const Assignment* start() const { return start_; }                 // null: none is known
  const CostedGraph* start_groups() const { return start_groups_; }  // null: those of the problem

  bool fusion_open() const { return costed_ == nullptr; }

  // The groups that plans must have. Not where fusion is open.
  const CostedGraph& costed() const { return *costed_; }

  // Throws InvalidInput where the problem was made without.
  const CostModel& proxy() const;

 private:
  const CostModel* proxy_ = nullptr;
  const CostedGraph* costed_ = nullptr;
  const Assignment* start_ = nullptr;
  const CostedGraph* start_groups_ = nullptr;
};

}  // namespace millrace
