// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/env/state.h"

// What a policy that encodes the whole state at every step is shown of it: a function of the chains alone, however they
// were built.
namespace millrace {

inline constexpr int kStateGroupFeatures = 8;
inline constexpr int kStateDeviceFeatures = 4;

// Row-major. Differences of times are in units of Environment::scale and squashed as in observation.h.
//
// Features of a group: 0 is it placed; 1 ready; 2 removable; 3 start / (start + critical path), -1 if not placed;
// 4 makespan - start; 5 makespan - finish; 6 place on its device's chain, from the end: 1 / (1 + groups
// of that device behind it); 7 share of its predecessors placed, 1 without any. 4, 5 and 6 are 0 if not placed.
// Features of a device: 0 makespan - when it is free; 1 that after the first device is; 2 share of the placed
// groups there against an even one, - 1; 3 share of groups placed.
struct StateFeatures {
  std::vector<float> groups;   // groups x kStateGroupFeatures
  std::vector<float> devices;  // devices x kStateDeviceFeatures

  // Pairs of groups that stand next to each other on a chain of some unit, each pair once: `behind` right behind
  // `before`. In no particular order, but the same for the same state.
  struct Link {
    std::int32_t before = 0;
    std::int32_t behind = 0;
  };
  std::vector<Link> links;
};

void MakeStateFeatures(const State& state, StateFeatures& features);

}  // namespace millrace
