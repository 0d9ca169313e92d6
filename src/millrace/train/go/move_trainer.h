// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "millrace/train/go/move_settings.h"
#include "millrace/train/torch/training_loop.h"

// Trains the policy that improves placements by moves of blocks (go/moves.h): it walks through placements of training
// graphs with the policy as it is, and at each learns the credit of single blocks (train/go/credit.h). Times are
// seconds.
namespace millrace {

struct MoveTrainerOptions : TrainingOptions {
  MoveSettings settings;
};

// `mean` and `best` of UpdateReport are by the time of the placement by hand: of the placements looked at, and of the
// fastest of them.
struct MoveReport : UpdateReport {
  std::int64_t evaluations = 0;  // of plans, in this run
  double ranking = 0;            // MoveUpdateResult::ranking
  double best_found = 0;         // MoveUpdateResult::best_found
};

class MoveObserver {
 public:
  virtual ~MoveObserver() = default;
  virtual void OnUpdate(const MoveReport& report) = 0;
  // `score`: geometric mean over the validation graphs of the time by hand / the time after improving by the likeliest
  // moves.
  virtual void OnValidation(const MoveReport& report, double score, bool kept) = 0;
};

extern const CheckpointKind kMoveCheckpoint;

// Trains to the end and writes the output, and checkpoints on the way. `resume`: goes on from there, with its settings
// and seed. Without a time limit the result is a function of settings, seed and start alone, however often the training
// was stopped and resumed and at any number of rollout threads.
//
// Throws InvalidInput for settings out of range and weights to start from of another network. On Interrupted, or
// WorkFailed for a gradient that is not finite, the last good checkpoint and the best weights so far are on disk when
// it is passed on.
TrainingSummary TrainMoves(const MoveTrainerOptions& options, const std::optional<Checkpoint>& resume,
                           MoveObserver& observer);

}  // namespace millrace
