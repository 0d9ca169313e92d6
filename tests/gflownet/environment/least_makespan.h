// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "millrace/gflownet/environment/state.h"

// The makespan of the best plan beyond a state, by trying all of them: for a handful of groups.
namespace millrace::testing {

inline double LeastMakespan(const State& state) {
  if (state.done()) return state.makespan();
  double least = std::numeric_limits<double>::infinity();
  for (const std::int32_t group : state.ready()) {
    for (std::int32_t device = 0; device < state.environment().num_devices(); ++device) {
      if (!state.MayRun(group, device)) continue;
      State next = state;
      next.Append({group, device});
      least = std::min(least, LeastMakespan(next));
    }
  }
  return least;
}

}  // namespace millrace::testing
