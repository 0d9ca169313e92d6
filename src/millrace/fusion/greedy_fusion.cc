// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/greedy_fusion.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "millrace/fusion/fusion_problem.h"
#include "millrace/fusion/merged_groups.h"
#include "millrace/plan/fusion_table.h"

namespace millrace {
namespace {

using Kinds = std::vector<std::string_view>;  // ascending

// The device kinds an op can run on; `all` where it states no kinds.
struct RunnableOn {
  bool all = true;
  Kinds kinds;

  bool Covers(const RunnableOn& other) const {
    if (all) return true;
    return !other.all && std::includes(kinds.begin(), kinds.end(), other.kinds.begin(), other.kinds.end());
  }
};

RunnableOn KindsOf(const Op& op) {
  RunnableOn result;
  if (!op.seconds.stated() || op.seconds.everywhere) return result;
  result.all = false;
  for (const auto& [kind, seconds] : op.seconds.by_kind) result.kinds.emplace_back(kind);
  return result;
}

RunnableOn Both(const RunnableOn& a, const RunnableOn& b) {
  if (a.all) return b;
  if (b.all) return a;
  RunnableOn result;
  result.all = false;
  std::set_intersection(a.kinds.begin(), a.kinds.end(), b.kinds.begin(), b.kinds.end(),
                        std::back_inserter(result.kinds));
  return result;
}

// The groups stay orderable because each carries a number, its rank, such that every edge between groups leads to a
// higher one, and no merge is made that would break that. Ops come in topological order; an op not yet reached counts
// as a group of its own whose rank is its position, above all ranks given so far. Let op v at position p join group G:
//  - No processed group reads v, so v adds no edges out of G to processed groups, and to the others, of rank > p, edges
//    always lead upwards.
//  - Where every other producer group of v has a lower rank than G, the edges into G through v lead upwards: done.
//  - Where not, but no processed group reads G, G has no edges out to processed groups at all. Its rank may be raised
//    to p, above all ranks given so far and below all ranks to come, and again every edge leads upwards.
// Otherwise v does not join G. Ranks that rise along every edge mean that no cycle joins the groups, and hence that no
// path leaves a group and comes back: each group is convex. A step looks at the op's own edges only.
class GreedyMerger {
 public:
  explicit GreedyMerger(const ComputationGraph& graph)
      : graph_(graph), group_of_(static_cast<std::size_t>(graph.num_ops()), kUnsettled), position_(group_of_.size()) {
    int next = 0;
    for (const OpId op : graph.topological_order()) position_[static_cast<std::size_t>(op)] = next++;
    for (const Op& op : graph.ops()) {
      if (op.colocate.empty()) continue;
      const auto [entry, first] = colocations_.emplace(op.colocate, KindsOf(op));
      if (!first) entry->second = Both(entry->second, KindsOf(op));
    }
  }

  FusionGroups Merge() {
    for (const OpId op : graph_.topological_order()) {
      Settle(op);
      for (const OpId producer : graph_.Predecessors(op)) {
        if (GroupOf(producer) != GroupOf(op)) groups_[GroupOf(producer)].read = true;
      }
    }
    return Split();
  }

 private:
  struct Group {
    std::vector<OpId> ops;
    int rank = 0;
    bool read = false;  // by a processed op outside
    bool fuses = false;
    std::string_view colocate;
    RunnableOn runnable;  // of the whole colocation where it has one
  };

  static constexpr std::size_t kUnsettled = std::numeric_limits<std::size_t>::max();

  int Position(OpId op) const { return position_[static_cast<std::size_t>(op)]; }
  std::size_t GroupOf(OpId op) const { return group_of_[static_cast<std::size_t>(op)]; }

  // Puts the op into the first producer group that takes it, or into one of its own.
  void Settle(OpId op) {
    const FusionRole role = FusionRoleOf(graph_.op(op).type);
    if (role == FusionRole::kElementwise) {
      for (const auto& [bytes, producer] : ProducersBySize(op)) {
        if (Join(op, GroupOf(producer))) return;
      }
    }
    group_of_[static_cast<std::size_t>(op)] = groups_.size();
    Group group;
    group.ops.push_back(op);
    group.rank = Position(op);
    group.fuses = role != FusionRole::kAlone;
    group.colocate = graph_.op(op).colocate;
    group.runnable = RunnableWithColocation(op);
    groups_.push_back(std::move(group));
  }

  // Largest tensor first, ties to the later producer.
  const std::vector<std::pair<double, OpId>>& ProducersBySize(OpId op) {
    producers_.clear();
    for (const TensorId input : graph_.Inputs(op)) {
      const Tensor& tensor = graph_.tensor(input);
      if (tensor.producer >= 0) producers_.push_back({tensor.bytes, tensor.producer});
    }
    std::sort(producers_.begin(), producers_.end(), [this](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : Position(a.second) > Position(b.second);
    });
    return producers_;
  }

  bool Join(OpId op, std::size_t target) {
    Group& group = groups_[target];
    if (!group.fuses || group.ops.size() >= kMostOpsPerGroup) return false;
    if (!SharesDevices(op, group) || HidesAnOutput(op, target)) return false;
    const std::span<const OpId> producers = graph_.Predecessors(op);
    const bool upwards = std::all_of(producers.begin(), producers.end(), [&](OpId producer) {
      return GroupOf(producer) == target || groups_[GroupOf(producer)].rank < group.rank;
    });
    if (!upwards) {
      if (group.read) return false;
      group.rank = Position(op);
    }
    if (group.colocate.empty()) {
      const RunnableOn own = RunnableWithColocation(op);
      if (group.runnable.Covers(own)) group.runnable = own;
      group.colocate = graph_.op(op).colocate;
    }
    group.ops.push_back(op);
    group_of_[static_cast<std::size_t>(op)] = target;
    return true;
  }

  RunnableOn RunnableWithColocation(OpId op) const {
    const std::string& colocate = graph_.op(op).colocate;
    return colocate.empty() ? KindsOf(graph_.op(op)) : colocations_.at(colocate);
  }

  // Fusing must not leave a group without a device on a machine where each op has one. So of two sets of kinds one has
  // to contain the other; two colocations do not mix, and nothing narrows a colocation, whose other members may be
  // fused with something else.
  bool SharesDevices(OpId op, const Group& group) const {
    const std::string& colocate = graph_.op(op).colocate;
    const RunnableOn own = RunnableWithColocation(op);
    if (!group.colocate.empty() && !colocate.empty()) return group.colocate == colocate;
    if (!group.colocate.empty()) return own.Covers(group.runnable);
    if (!colocate.empty()) return group.runnable.Covers(own);
    return own.Covers(group.runnable) || group.runnable.Covers(own);
  }

  // An output of the graph must leave its group: through a reader outside or for want of readers.
  bool HidesAnOutput(OpId op, std::size_t target) const {
    for (const TensorId input : graph_.Inputs(op)) {
      const Tensor& tensor = graph_.tensor(input);
      if (!tensor.output || tensor.producer < 0 || GroupOf(tensor.producer) != target) continue;
      const bool leaves = std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                      [&](OpId consumer) { return consumer != op && GroupOf(consumer) != target; });
      if (!leaves) return true;
    }
    return false;
  }

  // A time stated for a whole group closes the device kinds it leaves out. Where that would take kinds away from the
  // group's ops, they stay single. A finer partition of orderable groups is orderable.
  FusionGroups Split() {
    std::map<std::vector<OpId>, const StatedSeconds*> stated;
    for (const GroupTime& time : graph_.group_seconds()) {
      if (!time.seconds.everywhere) stated.emplace(time.ops, &time.seconds);
    }
    FusionGroups result;
    result.reserve(groups_.size());
    for (Group& group : groups_) {
      if (!stated.empty() && group.ops.size() > 1 && Closes(stated, group)) {
        for (const OpId op : group.ops) result.push_back({op});
      } else {
        result.push_back(std::move(group.ops));
      }
    }
    if (!stated.empty()) {
      std::sort(result.begin(), result.end(), [this](const std::vector<OpId>& a, const std::vector<OpId>& b) {
        return Position(a.front()) < Position(b.front());
      });
    }
    return result;
  }

  static bool Closes(const std::map<std::vector<OpId>, const StatedSeconds*>& stated, const Group& group) {
    std::vector<OpId> ops = group.ops;
    std::sort(ops.begin(), ops.end());
    const auto time = stated.find(ops);
    if (time == stated.end()) return false;
    RunnableOn open;
    open.all = false;
    for (const auto& [kind, seconds] : time->second->by_kind) open.kinds.emplace_back(kind);
    return !open.Covers(group.runnable);
  }

  const ComputationGraph& graph_;
  std::vector<std::size_t> group_of_;
  std::vector<int> position_;  // in topological order
  std::vector<Group> groups_;
  std::unordered_map<std::string_view, RunnableOn> colocations_;
  std::vector<std::pair<double, OpId>> producers_;
};

}  // namespace

FusionGroups GreedyFusion(const ComputationGraph& graph) { return GreedyMerger(graph).Merge(); }

FusionGroups GreedyFusion(const CostModel& model) {
  if (model.steering() == nullptr) return GreedyFusion(model.graph());
  const FusionProblem problem(model);
  MergedGroups groups(problem);
  for (const OpId op : model.graph().topological_order()) {
    for (const OpId producer : problem.ProducersBySize(op)) {
      if (!groups.Propose(groups.GroupOf(producer), op) || !groups.Legal()) continue;
      groups.Merge();
      break;
    }
  }
  return groups.groups();
}

}  // namespace millrace
