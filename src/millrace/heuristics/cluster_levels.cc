// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/cluster_levels.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/heuristics/cluster_rounds.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

constexpr double kLeastShrinking = 0.95;  // a level has at most so many of the clusters of the one before it

struct Affinity {
  double strength;         // seconds of transfers
  std::int32_t low, high;  // clusters
};

// Takes items in order without sorting those that nobody asks for.
template <typename Item, typename Before, typename Take>
void TakeInOrder(std::vector<Item>& items, std::size_t at_once, const Before& before, const Take& take) {
  for (std::size_t begin = 0; begin < items.size();) {
    const std::size_t end = std::min(items.size(), begin + at_once);
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = items.begin() + static_cast<std::ptrdiff_t>(end);
    if (last != items.end()) std::nth_element(first, last, items.end(), before);
    std::sort(first, last, before);
    for (; begin < end; ++begin) {
      if (!take(items[begin])) return;
    }
  }
}

class Clustering {
 public:
  Clustering(const CostedGraph& costed, std::vector<std::int32_t> finest)
      : costed_(costed), cluster_(std::move(finest)) {
    Renumber();
    const MeanTransfer transfer = MeanTransferOf(costed.topology);
    pairs_.reserve(costed.predecessors.size());
    for (std::int32_t group = 0; group < costed.num_groups; ++group) {
      for (const GroupEdge& edge : costed.Predecessors(group)) AddPair(transfer.Seconds(edge.bytes), group, edge.group);
    }
    JoinPairs();
  }

  int count() const { return count_; }

  // Joins pairs until `fewest` are left or every cluster has been looked at. False where nothing can be joined.
  bool Join(int fewest, double most_work) {
    constexpr std::size_t kLooksPerCluster = 2;
    const double mean = work() / std::max(1, count_);
    std::vector<Affinity> weighed;
    weighed.reserve(pairs_.size());
    for (const Affinity& pair : pairs_) {
      const double low = work_[Index(pair.low)], high = work_[Index(pair.high)];
      if (low + high > most_work) continue;
      weighed.push_back({ClusterAffinity(pair.strength, low, high, mean), pair.low, pair.high});
    }
    std::vector<std::int32_t> into(Index(count_));
    std::iota(into.begin(), into.end(), 0);
    std::vector<char> taken(into.size(), 0);
    int left = count_;
    const auto stronger = [](const Affinity& a, const Affinity& b) {
      return a.strength != b.strength ? a.strength > b.strength : std::pair(a.low, a.high) < std::pair(b.low, b.high);
    };
    TakeInOrder(weighed, kLooksPerCluster * into.size(), stronger, [&](const Affinity& pair) {
      if (left <= fewest) return false;
      if (taken[Index(pair.low)] != 0 || taken[Index(pair.high)] != 0) return true;
      taken[Index(pair.low)] = taken[Index(pair.high)] = 1;
      into[Index(pair.high)] = pair.low;
      --left;
      return true;
    });
    if (left == count_) return false;
    weighed = {};
    for (std::int32_t& cluster : cluster_) cluster = into[Index(cluster)];
    const std::vector<std::int32_t> number = Renumber();
    for (Affinity& pair : pairs_) {
      const std::int32_t low = number[Index(into[Index(pair.low)])], high = number[Index(into[Index(pair.high)])];
      pair = {pair.strength, std::min(low, high), std::max(low, high)};
    }
    std::erase_if(pairs_, [](const Affinity& pair) { return pair.low == pair.high; });
    JoinPairs();
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
  void AddPair(double seconds, std::int32_t group, std::int32_t other) {
    const std::int32_t here = cluster_[Index(group)], there = cluster_[Index(other)];
    if (here != there) pairs_.push_back({seconds, std::min(here, there), std::max(here, there)});
  }

  // One pair for each two clusters, in the order of their numbers. Sums go from strong to weak, so that how ops are
  // numbered does not matter.
  void JoinPairs() {
    std::vector<std::size_t> offsets(Index(count_) + 1, 0);
    for (const Affinity& pair : pairs_) ++offsets[Index(pair.low) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<Affinity> sorted(pairs_.size());
    std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
    for (const Affinity& pair : pairs_) sorted[next[Index(pair.low)]++] = pair;
    pairs_.clear();
    for (std::size_t low = 0; low < Index(count_); ++low) {
      const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(offsets[low]);
      const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(offsets[low + 1]);
      std::sort(first, last, [](const Affinity& a, const Affinity& b) {
        return a.high != b.high ? a.high < b.high : a.strength > b.strength;
      });
      for (auto pair = first; pair != last; ++pair) {
        if (pair != first && pair->high == pairs_.back().high) {
          pairs_.back().strength += pair->strength;
        } else {
          pairs_.push_back(*pair);
        }
      }
    }
  }

  // Returns the new number of each old cluster, -1 for those that there are no more.
  std::vector<std::int32_t> Renumber() {
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
    return number;
  }

  const CostedGraph& costed_;
  std::vector<std::int32_t> cluster_;  // by group
  int count_ = 0;
  std::vector<double> work_;     // by cluster, each group on its fastest device
  std::vector<Affinity> pairs_;  // of clusters with an edge between them
};

// By group the first of those that it must share a device with.
std::vector<std::int32_t> Colocated(const CostedGraph& costed) {
  std::vector<std::int32_t> leader(Index(costed.num_groups));
  std::iota(leader.begin(), leader.end(), 0);
  std::vector<std::int32_t> first(Index(costed.num_colocations), -1);
  for (std::int32_t group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[Index(group)];
    if (colocation < 0) continue;
    if (first[Index(colocation)] < 0) first[Index(colocation)] = group;
    leader[Index(group)] = first[Index(colocation)];
  }
  return leader;
}

}  // namespace

std::vector<ClusterLevel> MakeClusterLevels(const CostedGraph& costed, int fewest) {
  return MakeClusterLevels(costed, Colocated(costed), fewest);
}

std::vector<ClusterLevel> MakeClusterLevels(const CostedGraph& costed, std::vector<std::int32_t> finest, int fewest) {
  Clustering clustering(costed, std::move(finest));
  std::vector<ClusterLevel> levels = {clustering.Level()};
  JoinInRounds(clustering, fewest, [&] {
    if (clustering.count() <= kLeastShrinking * levels.back().num_clusters()) levels.push_back(clustering.Level());
  });
  return levels;
}

}  // namespace millrace
