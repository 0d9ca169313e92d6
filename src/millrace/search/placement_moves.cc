// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/placement_moves.h"

#include <algorithm>
#include <cmath>

#include "millrace/cost/colocation_members.h"

namespace millrace {
namespace {

constexpr int kFewestClusters = 8;      // of the coarsest level that moves
constexpr double kClusterMoves = 0.6;   // share of the moves
constexpr double kExchangeShare = 0.2;  // of the moves of neighbours

}  // namespace

std::vector<ClusterLevel> MovedClusters(const CostedGraph& costed) {
  return MakeClusterLevels(costed, kFewestClusters);
}

MovingPlacement::MovingPlacement(const CostedGraph& costed, const std::vector<ClusterLevel>& levels,
                                 std::vector<int> placement)
    : costed_(costed), levels_(levels), members_(ColocationMembers(costed)), placement_(std::move(placement)) {}

bool MovingPlacement::Move(const PlacementMove& move) {
  changed_.clear();
  for (const std::int32_t group : move.groups) Place(group, move.device);
  return !changed_.empty();
}

bool MovingPlacement::MoveByChance(Random& random) {
  changed_.clear();
  if (random.Uniform() < kClusterMoves) {
    MoveCluster(random);
  } else {
    MoveNeighbours(random);
  }
  return !changed_.empty();
}

void MovingPlacement::Undo() {
  for (auto change = changed_.rbegin(); change != changed_.rend(); ++change)
    placement_[static_cast<std::size_t>(change->first)] = change->second;
  changed_.clear();
}

int MovingPlacement::Elsewhere(int device, Random& random) const {
  const auto devices = static_cast<std::uint64_t>(costed_.num_devices);
  return static_cast<int>((static_cast<std::uint64_t>(device) + 1 + random.Below(devices - 1)) % devices);
}

void MovingPlacement::MoveCluster(Random& random) {
  const ClusterLevel& level = levels_[random.Below(levels_.size())];
  const auto seed = static_cast<std::size_t>(random.Below(static_cast<std::uint64_t>(costed_.num_groups)));
  const int from = placement_[seed];
  const int to = Elsewhere(from, random);
  const bool all = random.Uniform() < 0.5;
  for (const std::int32_t group : level.Members(level.cluster_of[seed])) {
    if (all || placement_[static_cast<std::size_t>(group)] == from) Place(group, to);
  }
}

void MovingPlacement::MoveNeighbours(Random& random) {
  const auto groups = static_cast<std::uint64_t>(costed_.num_groups);
  const auto middle = static_cast<std::int64_t>(random.Below(groups));
  const double longest = std::max(1.0, static_cast<double>(groups) / 4);
  const auto half = static_cast<std::int64_t>(std::exp(random.Uniform() * std::log(longest)) / 2);
  const int seed = costed_.topological_order[static_cast<std::size_t>(middle)];
  const int from = placement_[static_cast<std::size_t>(seed)];
  const int to = Elsewhere(from, random);
  const std::int32_t layer = costed_.layer[static_cast<std::size_t>(seed)];
  const bool one_layer = random.Uniform() < 0.5, exchange = random.Uniform() < kExchangeShare;
  const auto last = std::min<std::int64_t>(middle + half, static_cast<std::int64_t>(groups) - 1);
  for (std::int64_t at = std::max<std::int64_t>(0, middle - half); at <= last; ++at) {
    const int group = costed_.topological_order[static_cast<std::size_t>(at)];
    if (one_layer && costed_.layer[static_cast<std::size_t>(group)] != layer) continue;
    const int here = placement_[static_cast<std::size_t>(group)];
    if (here == from) {
      Place(group, to);
    } else if (exchange && here == to) {
      Place(group, from);
    }
  }
}

void MovingPlacement::Place(int group, int device) {
  const int from = placement_[static_cast<std::size_t>(group)];
  if (from == device || !std::isfinite(costed_.Seconds(group, device))) return;
  const std::int32_t colocation = costed_.colocation[static_cast<std::size_t>(group)];
  const auto set = [&](int member) {
    changed_.emplace_back(member, placement_[static_cast<std::size_t>(member)]);
    placement_[static_cast<std::size_t>(member)] = device;
  };
  if (colocation < 0) {
    set(group);
  } else {
    for (const int member : members_[static_cast<std::size_t>(colocation)]) set(member);
  }
}

}  // namespace millrace
