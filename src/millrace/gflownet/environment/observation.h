// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/gflownet/environment/state.h"
#include "millrace/network/feature_row.h"
#include "millrace/network/sizes.h"

// What a policy is shown of a state: numbers that describe each ready group, and then, once a group is chosen, each
// device it may run on. EST and EFT are the earliest start and finish of a group on a device. Devices of a group whose
// colocation is open are compared by EFT + State::BoundSeconds, and so are features and priors of that choice.
//
// Features that are times or differences of times are in units of Environment::scale and squashed (network/squash.h).
// Priors are heuristic scores, 0 at best and negative below, in the same units but not squashed.
namespace millrace {

// A choice of group. "Its best device" is the one of the least EFT, colocations counted.
enum class GroupFeature : std::size_t {
  kUpwardRank,         // upward rank below the highest on offer
  kFinish,             // EFT on its best device above the least on offer
  kStart,              // EST on its best device after the first device is free
  kArrival,            // when its inputs reach its best device, after the first device is free
  kIdleGap,            // how long its best device would idle before it starts
  kSecondFinish,       // second-best EFT above the best
  kRankShare,          // upward rank / the highest on offer
  kCriticality,        // EFT + the longest path behind it, below the largest such sum on offer
  kOnward,             // the same by PEFT: the least EFT + optimistic cost of any device, below the largest on offer
  kInputShare,         // share of its input weight that is on its best device
  kNumOffered,         // log(1 + number of groups on offer) / 5
  kPlacedShare,        // share of all groups that are placed
  kMeanIdle,           // how long before the makespan devices become free, in the mean
  kChildrenMadeReady,  // number of key children that it would make ready, squashed
  kFinishPast,         // EFT on its best device after the makespan so far
  kMeanSeconds,        // seconds over the devices that can run it, in the mean
  kCount
};

enum class GroupPrior : std::size_t {
  kUpwardRank,  // upward rank less the highest on offer
  kFinish,      // the least EFT on offer less that on its best device
  kStart,       // the least EST on a best device on offer less its own
  kIdleGap,     // minus how long its best device would idle before it starts
  kCount
};

// A choice of device for one ready group. "The best" is the least over the devices that may run it.
enum class DeviceChoiceFeature : std::size_t {
  kFinish,              // EFT above the best
  kFinishIsBest,        // 1 where the EFT is the best
  kStart,               // EST after the first device is free
  kIdleGap,             // how long the device would idle before the group starts
  kDeviceFree,          // when the device is free, after the first device is
  kArrival,             // when the group's inputs reach the device, after the first device is free
  kOnward,              // EFT + optimistic cost (PEFT) above the best
  kOnwardIsBest,        // 1 where EFT + optimistic cost is the best
  kLookAhead,           // the latest of its EFT and, of its key children, EFT + the path behind them; above the best
  kInputShare,          // share of the group's input weight that is there
  kSecondsAgainstMean,  // log(seconds there / mean seconds), within +-5
  kUnitShare,           // share of the machine's units that the device has
  kLoad,                // share of the placed groups there against an even one, - 1
  kChildrenInputShare,  // share of its key children's input weight that is there
  kFinishPast,          // EFT after the makespan so far
  kPlacedShare,         // share of all groups that are placed
  kCount
};

enum class DeviceChoicePrior : std::size_t {
  kFinish,      // the best EFT less that there
  kOnward,      // the best EFT + optimistic cost less that there
  kLookAhead,   // the best look-ahead less that there
  kInputShare,  // share of the group's input weight that is there, - 1; not in units of time
  kCount
};

// What a choice leads to in the next steps (outlook.h), for a policy that looks ahead.
enum class OutlookNumber : std::size_t {
  kLost,      // time lost above the least of the choices looked into; squashed, in units of Environment::scale
  kLatest,    // when the last device is free then, above the least such time; likewise
  kAsked,     // 1 where the choice was looked into; the others have the most of those that were
  kFinished,  // 1 where the horizon reaches the end of the plan
  kPrior,     // the least time lost less the choice's; in units of Environment::scale, not squashed
  kCount
};

// Both choices are scored by heads of one size (network/choice_head.h).
inline constexpr int kGroupFeatures = kChoiceFeatures;
inline constexpr int kGroupPriors = kChoicePriors;
inline constexpr int kDeviceChoiceFeatures = kChoiceFeatures;
inline constexpr int kDeviceChoicePriors = kChoicePriors;
inline constexpr int kOutlookNumbers = kAheadFeatures + 1;
static_assert(kCountOf<GroupFeature> == kGroupFeatures && kCountOf<GroupPrior> == kGroupPriors);
static_assert(kCountOf<DeviceChoiceFeature> == kDeviceChoiceFeatures);
static_assert(kCountOf<DeviceChoicePrior> == kDeviceChoicePriors);
static_assert(kCountOf<OutlookNumber> == kOutlookNumbers);

// The choices of one step. Features and priors are tables (network/feature_row.h), one row for each choice.
struct Observation {
  std::vector<std::int32_t> choices;  // groups, or devices
  std::vector<float> features;
  std::vector<float> priors;
  std::vector<float> outlook;  // kOutlookNumbers each (outlook.h); empty for a policy that does not look ahead

  std::size_t size() const { return choices.size(); }
};

// Fills `observation`, but for the outlook (observer.h), for the group choice: the first kReadyWindow of state.ready().
void ObserveGroups(const State& state, Observation& observation);

// The same for the device choice of a ready group: the devices that may run it.
void ObserveDevices(const State& state, int group, Observation& observation);

}  // namespace millrace
