// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/cluster_levels.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// What a search for placements tries: some groups on another device.
namespace millrace {

// Groups that are to go to a device.
struct PlacementMove {
  std::span<const std::int32_t> groups;
  int device = 0;
};

// Says what is worth trying.
class MoveProposer {
 public:
  virtual ~MoveProposer() = default;

  // Moves away from a valid plan, the best first. They last until the next call.
  virtual std::vector<PlacementMove> Propose(const Assignment& plan, Random& random) = 0;
};

// The clusters that move by chance, from fine to coarse.
std::vector<ClusterLevel> MovedClusters(const CostedGraph& costed);

// A placement while it changes. Groups that must share a device move as one, and none goes where it cannot run.
class MovingPlacement {
 public:
  // The graph, of two devices and one group or more, and its MovedClusters must outlive it.
  MovingPlacement(const CostedGraph& costed, const std::vector<ClusterLevel>& levels, std::vector<int> placement);

  const std::vector<int>& placement() const { return placement_; }

  // Both say whether anything has changed.
  bool Move(const PlacementMove& move);

  // A cluster of any level, or what of it is on one device, to any other device; or groups that are near each other in
  // topological order, often of one layer, of which two devices may be exchanged; how many goes from one to a quarter
  // of the graph.
  bool MoveByChance(Random& random);

  // Takes the last move back.
  void Undo();

 private:
  int Elsewhere(int device, Random& random) const;
  void MoveCluster(Random& random);
  void MoveNeighbours(Random& random);
  void Place(int group, int device);

  const CostedGraph& costed_;
  const std::vector<ClusterLevel>& levels_;
  std::vector<std::vector<int>> members_;  // by colocation
  std::vector<int> placement_;
  std::vector<std::pair<int, int>> changed_;  // by the last move: group, where it was
};

}  // namespace millrace
