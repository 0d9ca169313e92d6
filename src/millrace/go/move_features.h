// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "millrace/go/blocks.h"
#include "millrace/go/decision_features.h"

// What GO's policy is told of a placement whose blocks it may move (go/moves.h): tables of the same size as those of
// go/decision_features.h, which have other columns where that table tells of tasks that are not decided here. Times,
// units and squashing as there.
namespace millrace {

// A row. The first four are those of DecisionFeature.
enum class MoveRowFeature : std::size_t {
  kIsPlaced = static_cast<std::size_t>(DecisionFeature::kIsPlaced),
  kDevice = static_cast<std::size_t>(DecisionFeature::kDevice),
  kLocalShare = static_cast<std::size_t>(DecisionFeature::kLocalShare),
  kLoad = static_cast<std::size_t>(DecisionFeature::kLoad),
  kBlockWork,  // its block's share of the work against an eighth of an even share of a device
  kStart,      // its start / makespan
  kSlack,      // how much later it could finish if all others kept their devices and order, / makespan
  kWait,       // how long it waits for its device once its inputs are there
  kCount
};

// A row on a device. Columns without a name here are those of PlaceFeature.
enum class MovePlaceFeature : std::size_t {
  kBlockInput =
      static_cast<std::size_t>(PlaceFeature::kPastWorkBefore),  // share of the bytes that its block reads from
                                                                // outside that are there
  kBlockOutput = static_cast<std::size_t>(PlaceFeature::kDistanceFromWorkBefore),  // share of the bytes that others
                                                                                   // read of its block, read there
  kBlockLoad = static_cast<std::size_t>(PlaceFeature::kHasPlacement),  // the device's work with all of the block there,
                                                                       // against an even share, - 1
  kBlockTransfers = static_cast<std::size_t>(PlaceFeature::kHasLargestInput),  // seconds of transfers into and out of
                                                                               // the block, above the least of any
                                                                               // device, in eighths of an even share
  kCount = kPlaceFeatures
};

static_assert(static_cast<int>(MoveRowFeature::kCount) == kDecisionFeatures);

// Fills `observation`, whose storage is used again. `placed` has a placement and no other decisions.
void ObserveMoves(const GoProblem& problem, const Decisions& placed, const GoBlocks& blocks,
                  DecisionObservation& observation);

}  // namespace millrace
