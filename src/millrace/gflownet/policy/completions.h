// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/gflownet/environment/state.h"

// What becomes of a partial plan if simple rules finish it: a guess, from above, of the makespans beyond a choice.
namespace millrace {

// Of the finished plans beyond a choice, in the terms of the size-scaled reward: r = (reference makespan) / makespan -
// 1 of the best, r of the mean makespan, and the r whose plan alone had the mean reward of all: T / n log mean exp(n r
// / T) for n groups and the reward temperature T. Above 0 is better than HEFT.
inline constexpr int kCompletions = 3;

// With at most so many groups left the rules go on from every second choice; with more, from the choice itself.
inline constexpr int kFewGroupsLeft = 8;

// Finishes plans by these rules: the ready group of the highest upward rank goes where it finishes first, or where its
// finish + optimistic cost (PEFT) is least; the group that can start first goes there (ETF); everything goes to one
// device, each in turn, where it may. One serves one thread.
class Completions {
 public:
  // Temperature > 0.
  Completions(const Environment& environment, double temperature)
      : begun_(environment), onward_(environment), finished_(environment), temperature_(temperature) {}

  // For the choice of each of these devices for a ready group: appends kCompletions numbers each. O(choices x (devices
  // + 3) x remaining groups x devices), and times the second choices where few groups are left.
  void Append(const State& state, std::int32_t group, std::span<const std::int32_t> devices, std::vector<float>& out);

 private:
  void FinishFrom(const State& begun);

  State begun_, onward_, finished_;
  std::vector<double> makespans_;
  double temperature_;
};

}  // namespace millrace
