// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/gflownet/environment/state.h"
#include "millrace/network/feature_row.h"

// What a policy that encodes the whole state at every step is shown of it. It depends on the chains alone, not on the
// order they were built in. Differences of times are in units of Environment::scale and squashed (network/squash.h).
namespace millrace {

inline constexpr int kStateGroupFeatures = 8;
inline constexpr int kStateDeviceFeatures = 4;

enum class StateGroupFeature : std::size_t {
  kPlaced,              // 1 where it is placed
  kReady,               // 1 where it is ready
  kRemovable,           // 1 where it is removable (State::removable)
  kStart,               // start / (start + critical path); -1 if not placed
  kStartBeforeEnd,      // makespan - start; 0 if not placed
  kFinishBeforeEnd,     // makespan - finish; 0 if not placed
  kPlaceFromEnd,        // 1 / (1 + number of groups behind it on its device); 0 if not placed
  kPredecessorsPlaced,  // share of its predecessors that are placed; 1 without any
  kCount
};

enum class StateDeviceFeature : std::size_t {
  kFreeBeforeEnd,  // makespan - when it is free
  kFree,           // when it is free, after the first device is
  kLoad,           // share of the placed groups there against an even one, - 1
  kPlacedShare,    // share of all groups that are placed
  kCount
};

static_assert(kCountOf<StateGroupFeature> == kStateGroupFeatures);
static_assert(kCountOf<StateDeviceFeature> == kStateDeviceFeatures);

// Tables as in network/feature_row.h.
struct StateFeatures {
  std::vector<float> groups;   // groups x kStateGroupFeatures
  std::vector<float> devices;  // devices x kStateDeviceFeatures

  // A pair of groups that are next to each other on the chain of some unit: `behind` comes right behind `before`. Each
  // pair is listed once. Equal states list them in the same order.
  struct Link {
    std::int32_t before = 0;
    std::int32_t behind = 0;
  };
  std::vector<Link> links;
};

void MakeStateFeatures(const State& state, StateFeatures& features);

}  // namespace millrace
