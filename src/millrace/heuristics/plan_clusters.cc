// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/plan_clusters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "millrace/graph/index.h"
#include "millrace/heuristics/acyclic_clusters.h"

namespace millrace {
namespace {

// A cluster that may still grow.
struct Run {
  std::vector<int> groups;
  int device = 0;
  double work = 0;
  std::int32_t colocation = -1;
};

class PlanClustering {
 public:
  PlanClustering(const CostedGraph& costed, const Assignment& plan, int wanted)
      : costed_(costed), plan_(plan), last_on_(Index(costed.topology.num_units), -1) {
    double work = 0;
    for (int group = 0; group < costed.num_groups; ++group) work += Work(group);
    most_work_ = 2 * work / std::max(1, wanted);
  }

  std::vector<Run> Runs() {
    for (const int group : plan_.sequence) {
      const int device = plan_.placement[Index(group)];
      const int run = RunBefore(device);
      if (run >= 0 && Joins(runs_[Index(run)], group)) {
        Add(group, runs_[Index(run)]);
      } else {
        runs_.emplace_back().device = device;
        Add(group, runs_.back());
        for (const std::int32_t unit : costed_.topology.UnitsAt(device))
          last_on_[Index(unit)] = static_cast<int>(runs_.size()) - 1;
      }
    }
    return std::move(runs_);
  }

 private:
  double Work(int group) const { return costed_.Seconds(group, plan_.placement[Index(group)]); }

  // Of the device, if nothing has run on any of its units since; else -1.
  int RunBefore(int device) const {
    int run = -1;
    for (const std::int32_t unit : costed_.topology.UnitsAt(device)) {
      const int last = last_on_[Index(unit)];
      if (last < 0 || runs_[Index(last)].device != device) return -1;
      run = last;
    }
    return run;
  }

  bool Joins(const Run& run, int group) const {
    const std::int32_t colocation = costed_.colocation[Index(group)];
    if (run.colocation >= 0 && colocation >= 0 && run.colocation != colocation) return false;
    return run.work + Work(group) <= most_work_ && RunAlike(run.groups.front(), group) &&
           Stays(costed_.Successors(run.groups.back()), run.device) && Stays(costed_.Predecessors(group), run.device);
  }

  bool RunAlike(int one, int other) const {
    for (int device = 0; device < costed_.num_devices; ++device) {
      if ((costed_.Seconds(one, device) < kCannotRun) != (costed_.Seconds(other, device) < kCannotRun)) return false;
    }
    return true;
  }

  bool Stays(std::span<const GroupEdge> neighbours, int device) const {
    return std::all_of(neighbours.begin(), neighbours.end(),
                       [this, device](const GroupEdge& edge) { return plan_.placement[Index(edge.group)] == device; });
  }

  void Add(int group, Run& run) const {
    run.groups.push_back(group);
    run.work += Work(group);
    run.colocation = std::max(run.colocation, costed_.colocation[Index(group)]);
  }

  const CostedGraph& costed_;
  const Assignment& plan_;
  double most_work_ = 0;
  std::vector<Run> runs_;
  std::vector<int> last_on_;  // by unit: the run that was there last; -1: none
};

}  // namespace

ClusteredPlan ClusterAlongPlan(const CostModel& model, const CostedGraph& costed, const Assignment& plan, int wanted) {
  const std::vector<Run> runs = PlanClustering(costed, plan, wanted).Runs();
  ClusteredPlan clustered;
  FusionGroups clusters;
  for (const Run& run : runs) {
    std::vector<OpId>& ops = clusters.emplace_back();
    for (const int group : run.groups)
      ops.insert(ops.end(), costed.groups[Index(group)].begin(), costed.groups[Index(group)].end());
    std::sort(ops.begin(), ops.end());
    clustered.assignment.placement.push_back(run.device);
  }
  clustered.assignment.sequence.resize(runs.size());
  std::iota(clustered.assignment.sequence.begin(), clustered.assignment.sequence.end(), 0);
  clustered.costed = std::make_shared<const CostedGraph>(GraphOfClusters(model, costed, std::move(clusters)));
  return clustered;
}

Assignment SpreadOverGroups(const CostedGraph& clusters, const Assignment& plan, const CostedGraph& costed,
                            std::span<const int> order) {
  std::size_t ops = 0;
  for (const std::vector<OpId>& cluster : clusters.groups) ops += cluster.size();
  std::vector<int> turn_of(ops);  // of the op's cluster in the plan
  for (int turn = 0; turn < clusters.num_groups; ++turn) {
    for (const OpId op : clusters.groups[Index(plan.sequence[Index(turn)])]) turn_of[Index(op)] = turn;
  }
  const auto turn_of_group = [&](int group) { return turn_of[Index(costed.groups[Index(group)].front())]; };
  Assignment spread;
  for (int group = 0; group < costed.num_groups; ++group)
    spread.placement.push_back(plan.placement[Index(plan.sequence[Index(turn_of_group(group))])]);
  spread.sequence.assign(order.begin(), order.end());
  std::stable_sort(spread.sequence.begin(), spread.sequence.end(),
                   [&](int one, int other) { return turn_of_group(one) < turn_of_group(other); });
  return spread;
}

}  // namespace millrace
