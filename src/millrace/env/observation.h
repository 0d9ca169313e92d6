// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/env/state.h"

// What a policy is shown of a state: numbers that describe each ready group, and then, once a group is chosen, each
// device it may run on. Differences of times are in units of Environment::scale and squashed by x / sqrt(1 + |x|).
namespace millrace {

inline constexpr int kGroupFeatures = 16;
inline constexpr int kGroupPriors = 4;
inline constexpr int kDeviceChoiceFeatures = 16;
inline constexpr int kDeviceChoicePriors = 4;

// Only the ready groups of highest upward rank are offered, so a step costs the same on very wide graphs.
inline constexpr int kReadyWindow = 128;

// The choices of one step. Row-major: features[choice * width + k]. Priors are heuristic scores, 0 at best and
// negative below, in units of Environment::scale and not squashed.
struct Observation {
  std::vector<std::int32_t> choices;  // groups, or devices
  std::vector<float> features;
  std::vector<float> priors;

  std::size_t size() const { return choices.size(); }
};

// Fills `observation` for the group choice: the first kReadyWindow of state.ready().
//
// Features: 0 upward rank below the largest on offer; 1 best EFT above the least on offer; 2 EST there after the first
// device is free; 3 arrival at the best device after that; 4 idle gap left there; 5 second-best EFT above the best;
// 6 upward rank / largest on offer; 7 EFT + what must follow, below the most critical on offer; 8 the same with the
// optimistic cost; 9 share of input weight already on the best device; 10 number on offer, log; 11 share of groups
// placed; 12 mean idle time of devices behind the makespan; 13 key children this would make ready; 14 best EFT after
// the makespan so far; 15 mean seconds.
// Priors: upward rank, -EFT, -EST at the device of the best EFT, each against the best on offer; -idle gap left there.
void ObserveGroups(const State& state, Observation& observation);

// The same for the device choice of a ready group: the devices that may run it.
//
// Features: 0 EFT above the best; 1 is that the best; 2 EST after the first device is free; 3 idle gap left there; 4
// when the device is free, after the first; 5 arrival after that; 6 EFT + optimistic cost above the best; 7 is that the
// best; 8 look-ahead above the best: the latest of the key children's best EFT + what must follow them; 9 share of
// input weight there; 10 seconds there against the mean, log; 11 share of the machine's units; 12 share of placed
// groups there against an even one; 13 share of the key children's placed input weight there; 14 EFT after the makespan
// so far; 15 share of groups placed.
// Priors: -EFT, -(EFT + optimistic cost), -look-ahead, each against the best; share of input weight there - 1.
void ObserveDevices(const State& state, int group, Observation& observation);

}  // namespace millrace
