// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/train/go/problem.h"
#include "millrace/train/go/settings.h"
#include "millrace/train/torch/training_loop.h"

// Trains GO's policy on given problems: samples decisions with the plain C++ policy, rewards each iteration's plan with
// -sqrt(time / reference), and has the learner make the better ones likelier, as well as the best ones known. Times are
// seconds.
//
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers", 2020; the best known decisions as
// demonstrations are expert iteration (Anthony, Tian, Barber, "Thinking Fast and Slow with Deep Learning and Tree
// Search", 2017).
namespace millrace {

struct GoTrainerOptions : TrainingOptions {
  GoSettings settings;
};

// The ratios are by GoTrainingProblem::reference_seconds: `mean` is that of the last iteration's plans that fit in
// memory, `best` that of the best plan known.
struct GoReport : UpdateReport {
  std::int64_t evaluations = 0;  // of plans, over all runs
  double usable = 0;             // share of plans that fit in memory
  double best_seconds = 0;       // of the update's first problem, known so far; infinity: none
  double entropy = 0;            // nats per decision
};

// Over the validation problems: geometric means of reference / seconds; what does not fit counts as a tenth.
struct GoValidation {
  double best = 0;    // of the samples and the greedy plan
  double mean = 0;    // of the samples
  double greedy = 0;  // the plan of the most likely decisions
};

class GoObserver {
 public:
  virtual ~GoObserver() = default;
  virtual void OnUpdate(const GoReport& report) = 0;
  virtual void OnValidation(const GoReport& report, const GoValidation& validation, bool kept) = 0;
};

struct GoSummary : TrainingSummary {
  std::int64_t evaluations = 0;
  std::vector<KnownDecisions> best;  // by problem: sampled, or found by a search
};

extern const CheckpointKind kGoCheckpoint;

// Trains to the end and writes the output, and checkpoints on the way. The best score is GoValidation::best.
// `validation` empty: on the problems themselves. `resume`: goes on from there, with its settings and seed. Without a
// time limit the result is a function of settings, seed, start and problems alone, however often the training was
// stopped and resumed and at any number of rollout threads.
//
// Throws InvalidInput for settings out of range, no problems, weights to start from of another network, and problems
// that are not those of `resume`. On Interrupted, or WorkFailed for a gradient that is not finite, the last good
// checkpoint and the best weights so far are on disk when it is passed on.
GoSummary TrainGo(const std::vector<GoTrainingProblem>& problems, const std::vector<GoTrainingProblem>& validation,
                  const GoTrainerOptions& options, const std::optional<Checkpoint>& resume, GoObserver& observer);

}  // namespace millrace
