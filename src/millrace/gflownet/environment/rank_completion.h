// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/gflownet/environment/state.h"

// What becomes of a partial plan if list scheduling finishes it: the ready group of the highest upward rank goes where
// it finishes first, or where its finish + optimistic cost (PEFT) is least; what a choice binds its colocation to is
// counted, as in State::BoundSeconds. A guess, from above, of the makespans beyond a choice. Seconds.
//
// In order of rank nobody has to ask what is ready: a plan takes a sixtieth to an eightieth of the time that drawing it
// from the network takes (`Sample` and `Complete` of bench/micro/rollout_bench.cc, 60 to 10,000 ops).
namespace millrace {

enum class CompletionRule : int { kFinish, kOnward };

// One serves one thread; the environment must outlive it. Under the contended proxy transfers that are not booked yet
// wait for nobody, so times are too short.
class RankCompletion {
 public:
  explicit RankCompletion(const Environment& environment);

  // Makespan with the action next and the rest by the rule. Precondition: the action's group is ready and may run there.
  double Makespan(const State& state, Action action, CompletionRule rule);

  // That plan: the state's groups in their order, the action's, the rest by rank.
  Assignment Plan(const State& state, Action action, CompletionRule rule);

 private:
  double Finish(const State& state, Action action, CompletionRule rule, Assignment* plan);
  double Place(std::size_t at, int device);

  const Environment& environment_;
  std::size_t devices_;
  std::span<const std::int32_t> group_;       // by rank
  std::vector<double> seconds_, optimistic_;  // by rank * devices + device
  bool shared_units_ = false;                 // does a unit belong to several devices, or a device to several units?

  // Of the plan that is being finished.
  std::vector<double> arrivals_;  // by rank * devices + device
  std::vector<double> device_free_, unit_free_;
  ColocationLedger colocations_;
};

}  // namespace millrace
