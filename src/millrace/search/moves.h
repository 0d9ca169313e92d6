// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/random/random.h"
#include "millrace/search/contended_live_plan.h"
#include "millrace/search/live_plan.h"
#include "millrace/search/twins.h"

// The small changes that local search tries on a plan.
namespace millrace {

// How often each kind is drawn, relative to the others.
struct MoveMix {
  int sequence = 3;  // a group to another place between its last predecessor and its first successor
  int place = 3;     // a group to another device
  int jump = 2;      // a group over the next few on its unit
  int join = 2;      // a group to the device of one of its neighbours in the graph, and to another place
  int stretch = 1;   // a stretch of the sequence to one device, so that a branch changes sides or joins a gang
  int path = 1;      // the same with a path of the graph
  int cluster = 3;   // a group to another device, and with it neighbours there that have dear transfers between them
  int swap = 3;      // two groups that are near in the sequence exchange their devices
  int twins = 1;     // two micro-batches, or what follows from two groups alike (twins.h), exchange their places
  double critical = 0.5;  // how often the group is one the makespan hangs on
  int reach = 16;         // how far a group goes in the sequence half of the time; 0: anywhere in its room
};

// Draws changes of one LivePlan or ContendedLivePlan, leaving each under way. Allocates in the constructor alone.
template <typename Live>
class Moves {
 public:
  Moves(Live& plan, const MoveMix& mix);

  // Looks again at which groups the makespan hangs on; costs a pass over the groups, or a simulation (FindCritical).
  void Refresh();

  // May leave the plan as it is where the change drawn is none.
  void Draw(Random& random);

 private:
  int DrawGroup(Random& random) const;
  int DrawDevice(Random& random) const;
  int DrawNeighbour(int group, Random& random) const;
  void MoveInSequence(int group, Random& random);
  void Jump(int group, Random& random);
  void PlaceStretch(int group, Random& random);
  void PlacePath(int group, Random& random);
  void PlaceCluster(int group, Random& random);
  void Swap(int group, Random& random);
  void SwapTwins(int group, Random& random);
  bool TwinsDiffer() const;
  bool StaysInOrder(int group) const;

  Live& plan_;
  MoveMix mix_;
  int total_;
  std::vector<int> critical_;  // as of the last Refresh
  double transfer_latency_ = 0, transfer_seconds_per_byte_ = 0;
  std::vector<double> mean_seconds_;  // by group
  std::vector<int> cluster_;
  std::vector<char> in_cluster_;  // by group
  Twins twins_;
};

extern template class Moves<LivePlan>;
extern template class Moves<ContendedLivePlan>;

}  // namespace millrace
