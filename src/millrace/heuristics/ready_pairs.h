// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/partial_schedule.h"

// The best (ready group, device) pair again and again, for the heuristics that look at all of them in every step.
namespace millrace {

// What makes a pair good: merit - the earliest start the group could have on the device. More is better. ETF has merit
// 0, DLS the parts of its dynamic level that do not change, min-min -seconds.
struct PairMerits {
  std::vector<double> merit;  // by group * devices + device; empty: all 0
  std::vector<double> level;  // by group: equal scores go to the higher; empty: all 0
};

// The earliest start without gaps is max(when the inputs arrive, when the device is free). Inputs of a ready group are
// final, and all pairs of a device share its free time. So each device keeps its pairs in heaps: those already waiting
// for the device, by merit, and those still waiting for inputs, by merit - arrival and by arrival; the best of a device
// is at the top of one of the first two, and a step costs a look at each device. All in all O(groups x devices x log
// groups) instead of groups x ready groups x devices.
class ReadyPairs {
 public:
  // Both must outlive the object; `schedule` leaves gaps.
  ReadyPairs(const CostedGraph& costed, PartialSchedule& schedule, PairMerits merits);

  // Places the best pair and lets in the groups that became ready; false when none is left.
  bool PlaceBest();

 private:
  struct Scored {
    double score;
    double level;
    std::int32_t order;  // minus the topological position

    bool operator<(const Scored& other) const {
      return std::tie(score, level, order) < std::tie(other.score, other.level, other.order);
    }
  };
  struct Arriving {
    double arrival;
    double merit;
    std::int32_t order;

    bool operator>(const Arriving& other) const {
      return std::tie(arrival, order) > std::tie(other.arrival, other.order);
    }
  };
  struct PendingScored {
    Scored scored;
    double arrival;

    bool operator<(const PendingScored& other) const { return scored < other.scored; }
  };
  struct DeviceQueues {
    std::priority_queue<Scored> waiting_for_device;  // score: merit
    std::priority_queue<Arriving, std::vector<Arriving>, std::greater<>> by_arrival;
    std::priority_queue<PendingScored> waiting_for_inputs;  // score: merit - arrival
  };
  struct Pair {
    int group = -1;
    int device = -1;
    Scored scored{};
    double work = 0;  // seconds x units, which breaks ties
  };

  void LetIn(int group);
  void Refresh(int device);
  void Offer(int device, Pair& best) const;
  int GroupOf(std::int32_t order) const { return costed_.topological_order[static_cast<std::size_t>(-order)]; }
  bool Usable(std::int32_t order, int device) const;
  void Place(int group, int device);

  const CostedGraph& costed_;
  PartialSchedule& schedule_;
  PairMerits merits_;
  std::vector<int> position_;
  std::vector<std::int32_t> waiting_;                                 // unplaced predecessors by group
  std::vector<DeviceQueues> queues_;                                  // by device
  std::priority_queue<int, std::vector<int>, std::greater<>> ready_;  // topological positions; placed ones linger
};

}  // namespace millrace
