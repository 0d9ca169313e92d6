// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/cluster_levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

constexpr double kMostWork = 3;           // of a cluster, in mean clusters of the level that is being made
constexpr double kLeastWork = 0.01;       // what an empty cluster counts for, in mean clusters
constexpr double kShrinking = 2.0 / 3;    // the clusters that a round aims at, of those before it
constexpr double kLeastShrinking = 0.95;  // a level has at most so many of the clusters of the one before it

struct Affinity {
  double strength;
  std::int32_t low, high;  // clusters
};

class Clustering {
 public:
  explicit Clustering(const CostedGraph& costed)
      : costed_(costed), transfer_(MeanTransferOf(costed.topology)), cluster_(Index(costed.num_groups)) {
    std::iota(cluster_.begin(), cluster_.end(), 0);
    std::vector<std::int32_t> first(Index(costed.num_colocations), -1);
    for (std::int32_t group = 0; group < costed.num_groups; ++group) {
      const std::int32_t colocation = costed.colocation[Index(group)];
      if (colocation < 0) continue;
      std::int32_t& leader = first[Index(colocation)];
      if (leader < 0) leader = group;
      cluster_[Index(group)] = leader;
    }
    Renumber();
  }

  int count() const { return count_; }

  // Joins pairs until `fewest` are left or every cluster has been looked at. False where nothing can be joined.
  bool Join(int fewest, double most_work) {
    std::vector<std::int32_t> into(Index(count_));
    std::iota(into.begin(), into.end(), 0);
    std::vector<char> taken(into.size(), 0);
    int left = count_;
    for (const Affinity& pair : Affinities()) {
      if (left <= fewest) break;
      if (taken[Index(pair.low)] != 0 || taken[Index(pair.high)] != 0) continue;
      if (work_[Index(pair.low)] + work_[Index(pair.high)] > most_work) continue;
      taken[Index(pair.low)] = taken[Index(pair.high)] = 1;
      into[Index(pair.high)] = pair.low;
      --left;
    }
    if (left == count_) return false;
    for (std::int32_t& cluster : cluster_) cluster = into[Index(cluster)];
    Renumber();
    return true;
  }

  double work() const { return std::accumulate(work_.begin(), work_.end(), 0.0); }

  ClusterLevel Level() const {
    ClusterLevel level{cluster_, std::vector<std::int32_t>(Index(count_) + 1, 0), {}};
    for (const std::int32_t cluster : cluster_) ++level.offsets[Index(cluster) + 1];
    std::partial_sum(level.offsets.begin(), level.offsets.end(), level.offsets.begin());
    std::vector<std::int32_t> next(level.offsets.begin(), level.offsets.end() - 1);
    level.members.resize(cluster_.size());
    for (const std::int32_t group : costed_.topological_order)
      level.members[Index(next[Index(cluster_[Index(group)])]++)] = group;
    return level;
  }

 private:
  // Pairs of clusters with an edge between them, the strongest first.
  std::vector<Affinity> Affinities() const {
    std::vector<Affinity> pairs;
    for (std::int32_t group = 0; group < costed_.num_groups; ++group) {
      const std::int32_t here = cluster_[Index(group)];
      for (const GroupEdge& edge : costed_.Predecessors(group)) {
        const std::int32_t there = cluster_[Index(edge.group)];
        if (here != there)
          pairs.push_back({transfer_.Seconds(edge.bytes), std::min(here, there), std::max(here, there)});
      }
    }
    std::sort(pairs.begin(), pairs.end(), [](const Affinity& a, const Affinity& b) {
      return std::pair(a.low, a.high) != std::pair(b.low, b.high) ? std::pair(a.low, a.high) < std::pair(b.low, b.high)
                                                                  : a.strength > b.strength;
    });
    const double mean_work = work() / std::max(1, count_);
    std::size_t kept = 0;
    for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
      Affinity all = pairs[begin];
      for (end = begin + 1; end < pairs.size() && pairs[end].low == all.low && pairs[end].high == all.high; ++end)
        all.strength += pairs[end].strength;
      const double floor = kLeastWork * mean_work;
      const double weight = std::sqrt((work_[Index(all.low)] + floor) * (work_[Index(all.high)] + floor));
      if (weight > 0) all.strength /= weight;
      pairs[kept++] = all;
    }
    pairs.resize(kept);
    std::sort(pairs.begin(), pairs.end(), [](const Affinity& a, const Affinity& b) {
      return a.strength != b.strength ? a.strength > b.strength : std::pair(a.low, a.high) < std::pair(b.low, b.high);
    });
    return pairs;
  }

  void Renumber() {
    std::vector<std::int32_t> number(cluster_.size(), -1);
    count_ = 0;
    for (const std::int32_t group : costed_.topological_order) {
      std::int32_t& own = number[Index(cluster_[Index(group)])];
      if (own < 0) own = count_++;
    }
    for (std::int32_t& cluster : cluster_) cluster = number[Index(cluster)];
    work_.assign(Index(count_), 0.0);
    for (std::int32_t group = 0; group < costed_.num_groups; ++group)
      work_[Index(cluster_[Index(group)])] += costed_.fastest_seconds[Index(group)];
  }

  const CostedGraph& costed_;
  const MeanTransfer transfer_;
  std::vector<std::int32_t> cluster_;  // by group
  int count_ = 0;
  std::vector<double> work_;  // by cluster, each group on its fastest device
};

}  // namespace

std::vector<ClusterLevel> MakeClusterLevels(const CostedGraph& costed, int fewest) {
  Clustering clustering(costed);
  std::vector<ClusterLevel> levels = {clustering.Level()};
  const double work = clustering.work();
  // A round joins each cluster at most once. Where all are too heavy for their neighbours, heavier ones are let be.
  double wanted = clustering.count() * kShrinking;
  while (clustering.count() > fewest) {
    const int target = std::max(fewest, static_cast<int>(wanted));
    const bool joined = clustering.Join(target, kMostWork * work / target);
    if (!joined && target == fewest) break;
    wanted = kShrinking * (joined ? clustering.count() : wanted);
    if (joined && clustering.count() <= kLeastShrinking * levels.back().num_clusters())
      levels.push_back(clustering.Level());
  }
  return levels;
}

}  // namespace millrace
