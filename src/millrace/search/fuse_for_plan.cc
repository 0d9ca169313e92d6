// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/fuse_for_plan.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "millrace/fusion/merged_groups.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

class PlanFuser {
 public:
  PlanFuser(const FusionProblem& problem, const OpPlan& plan, const std::function<bool()>& stop)
      : problem_(problem), plan_(plan), stop_(stop), merged_(problem), best_(Rate(merged_)) {
    for (const OpId op : problem.graph().topological_order()) {
      for (const OpId producer : problem.ProducersBySize(op)) {
        if (DeviceOf(producer) == DeviceOf(op)) joins_.push_back({producer, op});
      }
    }
  }

  FusedPlan Fuse() {
    Join(joins_);
    return std::move(best_);
  }

 private:
  int DeviceOf(OpId op) const { return plan_.device[static_cast<std::size_t>(op)]; }

  // Keeps these joins if the plan is no longer for them, else those of either half.
  void Join(std::span<const Merge> joins) {
    if (tried_ && stop_()) return;
    MergedGroups groups = merged_;
    bool any = false;
    for (const Merge& join : joins) any = Take(join, groups) || any;
    if (!any) return;
    tried_ = true;
    FusedPlan fused = Rate(groups);
    if (fused.makespan <= best_.makespan) {
      merged_ = std::move(groups);
      best_ = std::move(fused);
    } else if (joins.size() > 1) {
      Join(joins.first(joins.size() / 2));
      Join(joins.subspan(joins.size() / 2));
    }
  }

  bool Take(const Merge& join, MergedGroups& groups) {
    const OpId first = groups.GroupOf(join.producer);
    const OpId second = groups.GroupOf(join.consumer);
    if (first == second || !groups.Propose(first, second) || !groups.Legal()) return false;
    first_.clear();
    second_.clear();
    for (const OpId op : groups.union_ops()) (groups.GroupOf(op) == first ? first_ : second_).push_back(op);
    const int device = DeviceOf(join.consumer);
    const CostModel& model = problem_.model();
    if (!(model.GroupSeconds(groups.union_ops(), device) <
          model.GroupSeconds(first_, device) + model.GroupSeconds(second_, device)))
      return false;
    groups.Merge();
    return true;
  }

  FusedPlan Rate(const MergedGroups& groups) const {
    FusedPlan fused;
    fused.costed = std::make_shared<const CostedGraph>(MakeCostedGraph(problem_.model(), groups.groups()));
    const CostedGraph& costed = *fused.costed;
    fused.makespan = std::numeric_limits<double>::infinity();
    Assignment assignment;
    std::vector<int> first, last;
    for (const std::vector<OpId>& group : costed.groups) {
      assignment.placement.push_back(DeviceOf(group.front()));
      const auto earlier = [this](OpId a, OpId b) { return TurnOf(a) < TurnOf(b); };
      const auto [least, most] = std::minmax_element(group.begin(), group.end(), earlier);
      first.push_back(TurnOf(*least));
      last.push_back(TurnOf(*most));
    }
    Simulator simulator(costed);
    for (const std::vector<int>* turns : {&last, &first}) {
      assignment.sequence = LeastKeyFirst(costed, *turns);
      const bool fits = !costed.limited_memory || FitsInMemory(costed, assignment);
      const double makespan = fits ? simulator.Makespan(assignment) : std::numeric_limits<double>::infinity();
      if (turns == &first && makespan >= fused.makespan) continue;
      fused.makespan = makespan;
      fused.assignment = assignment;
    }
    return fused;
  }

  int TurnOf(OpId op) const { return plan_.turn[static_cast<std::size_t>(op)]; }

  const FusionProblem& problem_;
  const OpPlan& plan_;
  const std::function<bool()>& stop_;
  MergedGroups merged_;
  FusedPlan best_;
  std::vector<Merge> joins_;
  std::vector<OpId> first_, second_;
  bool tried_ = false;
};

}  // namespace

OpPlan SpreadOverOps(const CostedGraph& costed, const Assignment& assignment) {
  std::size_t ops = 0;
  for (const std::vector<OpId>& group : costed.groups) ops += group.size();
  OpPlan plan{std::vector<int>(ops), std::vector<int>(ops)};
  int turn = 0;
  for (const int group : assignment.sequence) {
    for (const OpId op : costed.groups[static_cast<std::size_t>(group)]) {
      plan.device[static_cast<std::size_t>(op)] = assignment.placement[static_cast<std::size_t>(group)];
      plan.turn[static_cast<std::size_t>(op)] = turn++;
    }
  }
  return plan;
}

std::vector<int> PlacementByFirstOps(const CostedGraph& costed, const OpPlan& plan) {
  std::vector<int> placement;
  for (const std::vector<OpId>& ops : costed.groups)
    placement.push_back(plan.device[static_cast<std::size_t>(ops.front())]);
  return placement;
}

double SecondsIfItFits(const CostedGraph& costed, const Assignment& assignment) {
  if (costed.limited_memory && !FitsInMemory(costed, assignment)) return std::numeric_limits<double>::infinity();
  return Simulator(costed).Makespan(assignment);
}

FusedPlan FuseForPlan(const FusionProblem& problem, const OpPlan& plan, const std::function<bool()>& stop) {
  return PlanFuser(problem, plan, stop).Fuse();
}

}  // namespace millrace
