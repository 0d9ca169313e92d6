// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/policy/weights.h"
#include "millrace/train/checkpoint.h"
#include "millrace/train/settings.h"
#include "millrace/train/validation.h"

// A training: draws problems, samples plans for them with the plain C++ policy, lets the objective say how good the
// samples' probabilities are, and has the learner change them.
namespace millrace {

struct TrainerOptions {
  TrainingSettings settings;
  std::uint64_t seed = 0;
  int threads = 1;  // of rollouts
  int torch_threads = 1;
  std::optional<double> time_limit;      // seconds; the learning rate then reaches its end at whichever limit is nearer
  std::vector<ComputationGraph> graphs;  // real ones, to train on pieces of
  std::optional<Weights> start;          // to fine-tune; else initial ones of the settings' encoder

  std::string output;      // the averaged weights that validated best
  std::string checkpoint;  // empty: none is written
  double checkpoint_seconds = 180;
};

// What the last update was like.
struct UpdateReport {
  std::int64_t update = 0;
  double seconds = 0;  // since the training began, over all runs
  double loss = 0;     // mean over the update's problems
  double mean = 0;     // mean over them of (makespan of HEFT) / (mean makespan of the samples)
  double best = 0;     // likewise of the best sample
  double gradient_norm = 0;
  double expert_log_probability = 0;  // mean per recorded choice of expert trajectories; 0 without
  double learning_rate = 0;
  double plans_per_second = 0;    // of the rollouts alone
  double updates_per_second = 0;  // of this run
  double rollout_share = 0;       // of this run's seconds
  double learner_share = 0;
};

// Told how a training goes.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void OnUpdate(const UpdateReport& report) = 0;
  virtual void OnValidation(const UpdateReport& report, const std::vector<ValidationScore>& scores, bool best) = 0;
};

struct TrainingSummary {
  std::int64_t updates = 0;
  double seconds = 0;     // over all runs
  double best_score = 0;  // ValidationScore::best over all cells, of the weights that were kept
};

// Trains to the end and writes the output, and checkpoints on the way. `resume`: goes on from there, with its settings
// and seed. Without a time limit the result is a function of settings, seed, start and graphs alone, however often the
// training was stopped and resumed and at any number of rollout threads.
//
// On Interrupted, or WorkFailed for weights or a gradient that are not finite, the last good checkpoint and the best
// weights so far are on disk when it is passed on.
TrainingSummary Train(const TrainerOptions& options, const std::optional<Checkpoint>& resume,
                      TrainingObserver& observer);

}  // namespace millrace
