// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "millrace/cost/costed_graph.h"
#include "millrace/go/blocks.h"
#include "millrace/go/decision_features.h"
#include "millrace/plan/plan.h"

// What GO's policy is told of a placement whose blocks it may move (go/moves.h): tables of the same size as those of
// go/decision_features.h, which have other columns where that table tells of tasks that are not decided here, or of a
// plan of single ops. Times are those of the plan that is to be improved, of fused groups in its order; units and
// squashing as there.
namespace millrace {

// A row. Those with an equal name are those of DecisionFeature.
enum class MoveRowFeature : std::size_t {
  kBlockRoom,  // what the plan could save by its block at most (BlockPaths::Room), 1: a 25th of the makespan
  kDevice = static_cast<std::size_t>(DecisionFeature::kDevice),
  kLocalShare = static_cast<std::size_t>(DecisionFeature::kLocalShare),
  kLoad = static_cast<std::size_t>(DecisionFeature::kLoad),
  kBlockWork,  // its block's share of the work against an eighth of an even share of a device
  kStart,      // the start of its group / makespan
  kSlack,      // how much later its group could finish if all others kept their devices and order, / makespan
  kWait,       // how long its group waits for its device once its inputs are there
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
  kBlockPath = static_cast<std::size_t>(PlaceFeature::kArrival),  // the longest path through the block were it there
                                                                  // (go/block_paths.h), above the makespan, in
                                                                  // fiftieths of it
  kBlockPathGrows = static_cast<std::size_t>(PlaceFeature::kFinishIsBest),  // the same above the path through the block
                                                                            // where it is
  kCount = kPlaceFeatures
};

// A row on a device. Columns without a name here are those of PlacePrior.
enum class MovePrior : std::size_t {
  kBlockPath =
      static_cast<std::size_t>(PlacePrior::kFinish),  // minus how much longer the plan is likely to be with the
                                                      // block there, in fiftieths of the makespan, from -2 to 2
  kCount = kPlacePriors
};

static_assert(static_cast<int>(MoveRowFeature::kCount) == kDecisionFeatures);

// Fills `observation`, whose storage is used again. `placed` has a placement and no other decisions; `fused` and `plan`
// are what they come to.
void ObserveMoves(const GoProblem& problem, const Decisions& placed, const CostedGraph& fused, const Assignment& plan,
                  const GoBlocks& blocks, DecisionObservation& observation);

}  // namespace millrace
