// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/acyclic_clusters.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "millrace/graph/index.h"
#include "millrace/heuristics/cluster_rounds.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

struct ClusterEdge {
  std::int32_t from, to;
  double strength;  // seconds of transfers
};

// A number for each set of devices that groups can run on, one for each device that a placement has them on.
std::vector<std::int32_t> KindsOf(const CostedGraph& costed, std::span<const int> placement) {
  constexpr int kNoDevice = -1;
  std::map<std::pair<std::vector<bool>, int>, std::int32_t> numbers;
  std::vector<std::int32_t> kinds(Index(costed.num_groups));
  std::vector<bool> runs(Index(costed.num_devices));
  for (std::int32_t group = 0; group < costed.num_groups; ++group) {
    for (int device = 0; device < costed.num_devices; ++device)
      runs[Index(device)] = costed.Seconds(group, device) < kCannotRun;
    const std::pair kind(runs, placement.empty() ? kNoDevice : placement[Index(group)]);
    kinds[Index(group)] = numbers.emplace(kind, static_cast<std::int32_t>(numbers.size())).first->second;
  }
  return kinds;
}

class AcyclicClustering {
 public:
  AcyclicClustering(const CostedGraph& costed, std::span<const int> placement)
      : costed_(costed),
        cluster_(Index(costed.num_groups)),
        count_(costed.num_groups),
        work_(costed.fastest_seconds),
        kind_(KindsOf(costed, placement)),
        colocation_(costed.colocation) {
    std::iota(cluster_.begin(), cluster_.end(), 0);
    const MeanTransfer transfer = MeanTransferOf(costed.topology);
    edges_.reserve(costed.predecessors.size());
    for (std::int32_t group = 0; group < costed.num_groups; ++group) {
      for (const GroupEdge& edge : costed.Predecessors(group))
        edges_.push_back({edge.group, group, transfer.Seconds(edge.bytes)});
    }
  }

  int count() const { return count_; }
  double work() const { return std::accumulate(work_.begin(), work_.end(), 0.0); }

  // Joins pairs until `fewest` are left or all edges have been looked at. False where nothing can be joined.
  bool Join(int fewest, double most_work) {
    CountEdges();
    std::vector<std::int32_t> into(Index(count_));
    std::iota(into.begin(), into.end(), 0);
    std::vector<char> taken(into.size(), 0);
    int left = count_;
    for (const ClusterEdge& edge : Weighed(most_work)) {
      if (left <= fewest) break;
      const std::size_t from = Index(edge.from), to = Index(edge.to);
      if (taken[from] != 0 || taken[to] != 0) continue;
      taken[from] = taken[to] = 1;
      into[to] = edge.from;
      --left;
    }
    if (left == count_) return false;
    Contract(into);
    return true;
  }

  FusionGroups Groups() const {
    FusionGroups groups(Index(count_));
    std::vector<std::int32_t> number(groups.size(), -1);
    std::int32_t numbered = 0;
    for (const std::int32_t group : costed_.topological_order) {
      std::int32_t& own = number[Index(cluster_[Index(group)])];
      if (own < 0) own = numbered++;
      const std::vector<OpId>& ops = costed_.groups[Index(group)];
      groups[Index(own)].insert(groups[Index(own)].end(), ops.begin(), ops.end());
    }
    for (std::vector<OpId>& ops : groups) std::sort(ops.begin(), ops.end());
    return groups;
  }

 private:
  // Joins parallel edges and counts them.
  void CountEdges() {
    std::sort(edges_.begin(), edges_.end(), [](const ClusterEdge& a, const ClusterEdge& b) {
      return std::pair(a.to, a.from) != std::pair(b.to, b.from) ? std::pair(a.to, a.from) < std::pair(b.to, b.from)
                                                                : a.strength > b.strength;
    });
    std::size_t kept = 0;
    for (const ClusterEdge& edge : edges_) {
      if (kept > 0 && edges_[kept - 1].from == edge.from && edges_[kept - 1].to == edge.to) {
        edges_[kept - 1].strength += edge.strength;
      } else {
        edges_[kept++] = edge;
      }
    }
    edges_.resize(kept);
    in_.assign(Index(count_), 0);
    out_.assign(Index(count_), 0);
    for (const ClusterEdge& edge : edges_) {
      ++in_[Index(edge.to)];
      ++out_[Index(edge.from)];
    }
  }

  // The edges whose ends may be joined, the dearest first for the work that they would tie together.
  std::vector<ClusterEdge> Weighed(double most_work) const {
    const double mean = work() / std::max(1, count_);
    std::vector<ClusterEdge> weighed;
    for (const ClusterEdge& edge : edges_) {
      const std::size_t from = Index(edge.from), to = Index(edge.to);
      const bool around = out_[from] > 1 && in_[to] > 1;
      const bool parted = colocation_[from] >= 0 && colocation_[to] >= 0 && colocation_[from] != colocation_[to];
      if (around || parted || kind_[from] != kind_[to] || work_[from] + work_[to] > most_work) continue;
      weighed.push_back({edge.from, edge.to, ClusterAffinity(edge.strength, work_[from], work_[to], mean)});
    }
    std::sort(weighed.begin(), weighed.end(), [](const ClusterEdge& a, const ClusterEdge& b) {
      return a.strength != b.strength ? a.strength > b.strength : std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    return weighed;
  }

  // Clusters become those that they are joined into, under new numbers.
  void Contract(const std::vector<std::int32_t>& into) {
    std::vector<std::int32_t> number(into.size(), -1);
    std::int32_t kept = 0;
    for (std::size_t old = 0; old < into.size(); ++old) {
      if (Index(into[old]) == old) number[old] = kept++;
    }
    std::vector<double> work(Index(kept), 0.0);
    std::vector<std::int32_t> kind(work.size()), colocation(work.size(), -1);
    for (std::size_t old = 0; old < into.size(); ++old) {
      const std::size_t now = Index(number[Index(into[old])]);
      work[now] += work_[old];
      kind[now] = kind_[old];
      colocation[now] = std::max(colocation[now], colocation_[old]);
    }
    work_ = std::move(work);
    kind_ = std::move(kind);
    colocation_ = std::move(colocation);
    count_ = kept;
    const auto now = [&](std::int32_t old) { return number[Index(into[Index(old)])]; };
    for (std::int32_t& cluster : cluster_) cluster = now(cluster);
    for (ClusterEdge& edge : edges_) edge = {now(edge.from), now(edge.to), edge.strength};
    std::erase_if(edges_, [](const ClusterEdge& edge) { return edge.from == edge.to; });
  }

  const CostedGraph& costed_;
  std::vector<std::int32_t> cluster_;  // by group
  std::int32_t count_;
  std::vector<double> work_;                     // by cluster, each group on its fastest device
  std::vector<std::int32_t> kind_, colocation_;  // by cluster
  std::vector<ClusterEdge> edges_;               // between clusters
  std::vector<std::int32_t> in_, out_;           // by cluster: how many edges it has
};

// Ops take the time of the groups that they are the first of, so whole groups take their times together.
class SummedGroups final : public CostModel {
 public:
  SummedGroups(const CostModel& base, const CostedGraph& costed)
      : base_(base), costed_(costed), begun_(Index(base.graph().num_ops()), -1) {
    for (std::int32_t group = 0; group < costed.num_groups; ++group)
      begun_[Index(costed.groups[Index(group)].front())] = group;
  }

  double GroupSeconds(std::span<const OpId> ops, int device) const override {
    double seconds = 0;
    for (const OpId op : ops) {
      if (begun_[Index(op)] >= 0) seconds += costed_.Seconds(begun_[Index(op)], device);
    }
    return seconds;
  }

  const Topology& topology() const override { return base_.topology(); }
  const ComputationGraph& graph() const override { return base_.graph(); }

 private:
  const CostModel& base_;
  const CostedGraph& costed_;
  std::vector<std::int32_t> begun_;  // by op: the group that it is the first of, or -1
};

}  // namespace

CostedGraph GraphOfClusters(const CostModel& model, const CostedGraph& costed, FusionGroups clusters) {
  return MakeCostedGraph(SummedGroups(model, costed), std::move(clusters));
}

CostedGraph MakeClusteredGraph(const CostModel& model, const CostedGraph& costed, int fewest,
                               std::span<const int> placement) {
  return GraphOfClusters(model, costed, MakeAcyclicClusters(costed, fewest, placement));
}

FusionGroups MakeAcyclicClusters(const CostedGraph& costed, int fewest, std::span<const int> placement) {
  AcyclicClustering clustering(costed, placement);
  JoinInRounds(clustering, fewest, [] {});
  return clustering.Groups();
}

}  // namespace millrace
