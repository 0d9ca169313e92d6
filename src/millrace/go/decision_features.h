// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/go/decisions.h"
#include "millrace/go/problem.h"
#include "millrace/network/feature_row.h"

// What GO's policy is told of decisions: those of the iteration before, y[t-1], when it decides y[t]; and those of y[t]
// that are already made, when it decides the next task. The timeline of decisions is that of SchedulePlaced with every
// op single, queued by QueuePriority; without priorities, by readiness. y[t-1] may have all tasks, some, or none
// (t = 0): features that need a task it does not have are 0.
//
// Times are in units of GoProblem::scale(). What has no bound is squashed (network/squash.h). Bytes are compared with 1
// added to each edge, so that control dependencies count a little, too.
namespace millrace {

inline constexpr int kDecisionFeatures = 8;
inline constexpr int kPlaceFeatures = 16;
inline constexpr int kPlacePriors = 4;
inline constexpr int kLevelFeatures = 8;
inline constexpr int kLevelPriors = 2;

// What was decided for a row.
enum class DecisionFeature : std::size_t {
  kIsPlaced,     // 1 where placement is decided
  kDevice,       // DeviceFraction of its device
  kLocalShare,   // share of its neighbours' bytes that stay on its device; 1 without neighbours
  kLoad,         // its device's share of the work against an even one, - 1
  kHasPriority,  // 1 where priorities are decided
  kPriority,     // its priority / the highest
  kHasFusion,    // 1 where fusion levels are decided
  kFusion,       // its fusion level / the highest
  kCount
};

// A row on a device, beside what y[t-1] does; all 0 where the row cannot run there. EFT is the earliest finish that the
// row could have had there at its turn in the timeline of y[t-1].
enum class PlaceFeature : std::size_t {
  kSecondsAgainstMean,      // seconds there / mean seconds, - 1
  kPastWorkBefore,          // DeviceFraction less GoProblem::work_before()
  kDistanceFromWorkBefore,  // its size
  kPastProgress,            // DeviceFraction less GoProblem::progress()
  kDistanceFromProgress,    // its size
  kHasPlacement,            // 1 where y[t-1] has a placement
  kIsChosen,                // 1 where y[t-1] placed the row there
  kLoad,                    // the device's share of the work against an even one, - 1
  kInputShare,              // share of the bytes of its inputs that are there; 0 without inputs
  kOutputShare,             // share of the bytes of its outputs that are read there; 0 without outputs
  kFinish,                  // EFT above the least of any device
  kArrival,                 // when its inputs reach the device, above the least of any device
  kFinishIsBest,            // 1 where the EFT is the least
  kFullness,                // weights and outputs of the ops placed in its memory / that memory; 0 without a limit
  kEnd,                     // when the device is done with everything / makespan
  kHasLargestInput,         // 1 where the maker of its largest input is; of equal inputs, the lowest device
  kCount
};

enum class PlacePrior : std::size_t {
  kProgress,    // minus the distance from progress, in devices
  kFinish,      // minus PlaceFeature::kFinish
  kStay,        // -1 where y[t-1] placed the row on another device
  kLocalShare,  // share of its neighbours' bytes that are there, - 1; 0 without neighbours
  kCount
};

// A row, for its priority and its fusion level.
enum class LevelFeature : std::size_t {
  kHasPlacement,  // 1 where y[t-1] has a placement
  kPriority,      // its priority in y[t-1] / the highest
  kFusion,        // its fusion level in y[t-1] / the highest
  kWait,          // start less the arrival of its inputs
  kUrgency,       // 1 - (start + upward rank) / makespan
  kStart,         // start / makespan
  kLoad,          // its device's share of the work against an even one, - 1
  kLocalShare,    // share of its neighbours' bytes that stay on its device; 1 without neighbours
  kCount
};

// The prior of a level is minus its distance |level - centre| from each of these centres. A centre of -1 is none: its
// prior is 0 for every level.
enum class LevelPrior : std::size_t {
  kGraph,   // by the graph: GoProblem::urgency() for priorities, GoProblem::saving() in the upper half for fusion
  kBefore,  // the level in y[t-1]
  kCount
};

static_assert(kCountOf<DecisionFeature> == kDecisionFeatures);
static_assert(kCountOf<PlaceFeature> == kPlaceFeatures && kCountOf<PlacePrior> == kPlacePriors);
static_assert(kCountOf<LevelFeature> == kLevelFeatures && kCountOf<LevelPrior> == kLevelPriors);

// Fills `features`, rows x kDecisionFeatures.
void DescribeDecisions(const GoProblem& problem, const Decisions& decisions, std::vector<float>& features);

// What the policy is told of y[t-1]. Tables as in network/feature_row.h, rows as GoProblem counts them.
struct DecisionObservation {
  std::vector<float> decisions;         // rows x kDecisionFeatures
  std::vector<float> places;            // rows x devices x kPlaceFeatures
  std::vector<float> place_priors;      // rows x devices x kPlacePriors; 0 where it cannot run
  std::vector<float> levels;            // rows x kLevelFeatures
  std::vector<float> priority_centres;  // rows x kLevelPriors
  std::vector<float> fusion_centres;    // rows x kLevelPriors
};

// Fills `observation`, whose storage is used again. `before` is y[t-1].
void ObserveDecisions(const GoProblem& problem, const Decisions& before, DecisionObservation& observation);

}  // namespace millrace
