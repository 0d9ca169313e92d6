// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/plan_difference.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "millrace/cost/cost_model.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// Each costs a simulation.
constexpr std::size_t kMostPutBack = 200;

std::size_t AsIndex(int number) { return static_cast<std::size_t>(number); }

std::vector<int> GroupByOp(const Plan& plan, std::size_t ops) {
  std::vector<int> group_of(ops);
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    for (const OpId op : plan.groups[group]) group_of[AsIndex(op)] = static_cast<int>(group);
  }
  return group_of;
}

class Joined {
 public:
  explicit Joined(std::size_t ops) : parent_(ops) { std::iota(parent_.begin(), parent_.end(), 0); }

  int Of(int op) {
    while (parent_[AsIndex(op)] != op) op = parent_[AsIndex(op)] = parent_[AsIndex(parent_[AsIndex(op)])];
    return op;
  }
  void Join(int a, int b) { parent_[AsIndex(std::max(Of(a), Of(b)))] = std::min(Of(a), Of(b)); }

 private:
  std::vector<int> parent_;
};

class Differences {
 public:
  Differences(const ComputationGraph& graph, const Plan& first, const Plan& second, const CostedGraph& costed)
      : graph_(graph),
        first_(first),
        second_(second),
        costed_(costed),
        ops_(AsIndex(graph.num_ops())),
        group_in_first_(GroupByOp(first, ops_)),
        group_in_second_(GroupByOp(second, ops_)) {}

  PlanDifference Find() {
    PlanDifference difference;
    for (int op = 0; op < static_cast<int>(ops_); ++op) {
      difference.moved_ops += Moved(op) ? 1 : 0;
      difference.regrouped_ops += SameOps(op) ? 0 : 1;
    }
    difference.moved = Clusters();
    std::stable_sort(difference.moved.begin(), difference.moved.end(), [](const MovedOps& a, const MovedOps& b) {
      return std::max(a.seconds_on_from, a.seconds_on_to) > std::max(b.seconds_on_from, b.seconds_on_to);
    });
    for (std::size_t m = 0; m < std::min(kMostPutBack, difference.moved.size()); ++m) PutBack(difference.moved[m]);
    std::stable_sort(difference.moved.begin(), difference.moved.end(), [](const MovedOps& a, const MovedOps& b) {
      return a.makespan_if_back.value_or(-1) > b.makespan_if_back.value_or(-1);
    });
    return difference;
  }

 private:
  int From(int op) const { return first_.placement[AsIndex(group_in_first_[AsIndex(op)])]; }
  int To(int op) const { return second_.placement[AsIndex(group_in_second_[AsIndex(op)])]; }
  bool Moved(int op) const { return From(op) != To(op); }

  bool SameOps(int op) const {
    std::vector<OpId> a = first_.groups[AsIndex(group_in_first_[AsIndex(op)])];
    std::vector<OpId> b = second_.groups[AsIndex(group_in_second_[AsIndex(op)])];
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
  }

  std::vector<MovedOps> Clusters() const {
    Joined joined(ops_);
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.producer < 0 || !Moved(tensor.producer)) continue;
      for (const OpId reader : tensor.consumers) {
        if (From(reader) == From(tensor.producer) && To(reader) == To(tensor.producer))
          joined.Join(reader, tensor.producer);
      }
    }
    std::map<int, MovedOps> clusters;
    for (int op = 0; op < static_cast<int>(ops_); ++op) {
      if (!Moved(op)) continue;
      MovedOps& cluster = clusters[joined.Of(op)];
      cluster.from = From(op);
      cluster.to = To(op);
      cluster.ops.push_back(op);
    }
    std::vector<MovedOps> moved;
    moved.reserve(clusters.size());
    for (auto& [first, cluster] : clusters) {
      for (const int group : WholeGroups(cluster)) {
        cluster.seconds_on_from += costed_.Seconds(group, cluster.from);
        cluster.seconds_on_to += costed_.Seconds(group, cluster.to);
      }
      moved.push_back(std::move(cluster));
    }
    return moved;
  }

  // Groups of the second plan that are made of ops of the cluster alone.
  std::vector<int> WholeGroups(const MovedOps& cluster) const {
    std::map<int, std::size_t> found;
    for (const OpId op : cluster.ops) ++found[group_in_second_[AsIndex(op)]];
    std::vector<int> whole;
    for (const auto& [group, count] : found) {
      if (count == second_.groups[AsIndex(group)].size()) whole.push_back(group);
    }
    return whole;
  }

  void PutBack(MovedOps& cluster) {
    const std::vector<int> groups = WholeGroups(cluster);
    std::size_t ops = 0;
    std::vector<int> placement = second_.placement;
    for (const int group : groups) {
      ops += second_.groups[AsIndex(group)].size();
      placement[AsIndex(group)] = cluster.from;
      if (costed_.Seconds(group, cluster.from) >= kCannotRun) return;
    }
    if (ops == cluster.ops.size()) cluster.makespan_if_back = simulator_.Makespan(placement, second_.sequence);
  }

  const ComputationGraph& graph_;
  const Plan& first_;
  const Plan& second_;
  const CostedGraph& costed_;
  std::size_t ops_;
  std::vector<int> group_in_first_, group_in_second_;
  Simulator simulator_{costed_};
};

}  // namespace

PlanDifference DifferenceOf(const ComputationGraph& graph, const Plan& first, const Plan& second,
                            const CostedGraph& costed_second) {
  return Differences(graph, first, second, costed_second).Find();
}

}  // namespace millrace
