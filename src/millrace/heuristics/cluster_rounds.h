// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

// The rounds in which clusters of groups are made: each joins pairs of clusters, those first that the dearest transfers
// tie together for the work in them, so that clusters of a round are about equally heavy. Seconds.
namespace millrace {

// How strongly `transfers` between two clusters tie them together, of which each takes so long by itself. `mean` is the
// work of a mean cluster: an empty one counts for a hundredth of it.
inline double ClusterAffinity(double transfers, double work, double other, double mean) {
  constexpr double kLeastWork = 0.01;
  const double floor = kLeastWork * mean;
  const double weight = std::sqrt((work + floor) * (other + floor));
  return weight > 0 ? transfers / weight : transfers;
}

// Rounds until `fewest` clusters are left or nothing can be joined. `clustering` has count(), work() and
// Join(fewest, most_work), which joins pairs of no more work until so many are left and says whether it has joined any.
// A round joins each cluster at most once; where all are too heavy for their neighbours, heavier ones are let be.
// `joined` is called after each round that did.
template <typename Clustering, typename Joined>
void JoinInRounds(Clustering& clustering, int fewest, const Joined& joined) {
  constexpr double kMostWork = 3;         // of a cluster, in mean clusters of the round
  constexpr double kShrinking = 2.0 / 3;  // the clusters that a round aims at, of those before it
  const double work = clustering.work();
  double wanted = clustering.count() * kShrinking;
  while (clustering.count() > fewest) {
    const int target = std::max(fewest, static_cast<int>(wanted));
    const bool any = clustering.Join(target, kMostWork * work / target);
    if (!any && target == fewest) break;
    wanted = kShrinking * (any ? clustering.count() : wanted);
    if (any) joined();
  }
}

}  // namespace millrace
