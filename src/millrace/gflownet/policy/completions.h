// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/gflownet/environment/state.h"

// What becomes of a partial plan if simple rules finish it: a guess, from above, of the makespans beyond a choice.
namespace millrace {

// The reference makespan over that of the best and over that of the mean finished plan, less 1, as the size-scaled
// reward has it: above 0 is better than HEFT.
inline constexpr int kCompletions = 2;

// Finishes plans by these rules: the ready group of the highest upward rank goes where it finishes first, or where its
// finish + optimistic cost (PEFT) is least; the group that can start first goes there (ETF); everything goes to one
// device, each in turn, where it may. One serves one thread.
class Completions {
 public:
  explicit Completions(const Environment& environment) : begun_(environment), finished_(environment) {}

  // For the choice of each of these devices for a ready group: appends kCompletions numbers each. O(choices x (devices
  // + 3) x remaining groups x devices).
  void Append(const State& state, std::int32_t group, std::span<const std::int32_t> devices, std::vector<float>& out);

 private:
  double Finish(int rule);

  State begun_, finished_;
};

}  // namespace millrace
