// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/merged_fusion.h"

#include <algorithm>
#include <span>
#include <vector>

#include "millrace/fusion/fusion_problem.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/fusion/merged_groups.h"

namespace millrace {
namespace {

// Into the groups given, which are legal; each grows from its first op along the edges inside it.
void Rebuild(const FusionGroups& groups, MergedGroups& merged) {
  const FusionProblem& problem = merged.problem();
  std::vector<std::size_t> group_of(static_cast<std::size_t>(problem.graph().num_ops()));
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const OpId op : groups[group]) group_of[static_cast<std::size_t>(op)] = group;
  }
  for (const Merge& merge : problem.candidates()) {
    if (group_of[static_cast<std::size_t>(merge.producer)] != group_of[static_cast<std::size_t>(merge.consumer)])
      continue;
    const OpId first = merged.GroupOf(merge.producer);
    const OpId second = merged.GroupOf(merge.consumer);
    if (first != second && merged.Propose(first, second) && merged.Legal()) merged.Merge();
  }
}

class Merger {
 public:
  explicit Merger(const CostModel& model) : model_(model), problem_(model), groups_(problem_) {
    Rebuild(GreedyFusion(model), groups_);
    ops_.resize(static_cast<std::size_t>(model.graph().num_ops()));
    for (OpId op = 0; op < model.graph().num_ops(); ++op)
      ops_[static_cast<std::size_t>(groups_.GroupOf(op))].push_back(op);
  }

  FusionGroups Merge() {
    for (const OpId op : model_.graph().topological_order()) {
      for (const OpId producer : problem_.ProducersBySize(op)) Join(groups_.GroupOf(producer), groups_.GroupOf(op));
    }
    return groups_.groups();
  }

 private:
  void Join(OpId first, OpId second) {
    if (first == second || !groups_.Propose(first, second) || !groups_.Legal() || !Pays(first, second)) return;
    groups_.Merge();
    std::vector<OpId>& into = ops_[static_cast<std::size_t>(first)];
    std::vector<OpId>& from = ops_[static_cast<std::size_t>(second)];
    into.insert(into.end(), from.begin(), from.end());
    from.clear();
  }

  bool Pays(OpId first, OpId second) {
    for (int device = 0; device < problem_.num_devices(); ++device) {
      const double apart = Seconds(first, device) + Seconds(second, device);
      if (model_.GroupSeconds(groups_.union_ops(), device) < apart) return true;
    }
    return false;
  }

  double Seconds(OpId group, int device) {
    std::vector<OpId>& ops = ops_[static_cast<std::size_t>(group)];
    std::sort(ops.begin(), ops.end(), [this](OpId a, OpId b) { return problem_.position(a) < problem_.position(b); });
    return model_.GroupSeconds(ops, device);
  }

  const CostModel& model_;
  FusionProblem problem_;
  MergedGroups groups_;
  std::vector<std::vector<OpId>> ops_;  // by group, of those there are now
};

}  // namespace

FusionGroups MergedFusion(const CostModel& model) { return Merger(model).Merge(); }

}  // namespace millrace
