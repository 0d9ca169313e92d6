// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "millrace/network/weights.h"
#include "millrace/planning/deadline.h"
#include "millrace/train/torch/checkpoint.h"
#include "millrace/train/torch/learner.h"
#include "millrace/train/torch/team.h"

// The course of a training, whatever it is that learns: updates until a limit, validations and checkpoints in between,
// and what is kept of it when it is interrupted or fails. Times are seconds.
namespace millrace {

// What a training is told beside the settings of its preset.
struct TrainingOptions {
  std::uint64_t seed = 0;
  int threads = 1;  // of rollouts
  int torch_threads = 1;
  std::optional<double> time_limit;  // in all; what falls linearly then reaches its end at whichever limit is nearer
  std::optional<Weights> start;      // to fine-tune; else initial ones of the settings' network

  std::string output;      // file of the averaged weights that validated best
  std::string checkpoint;  // file; empty: none is written
  double checkpoint_seconds = 180;

  // Other processes that run the same training, each with its own part in every update; must outlive the training.
  // Null: none. Rank 0 alone validates, writes and reports.
  mpi::Ranks* ranks = nullptr;
};

// What the last update was like. The ratios are means over the update's problems of (seconds of the reference plan) /
// (seconds of the sampled plans): above 1 is better than the reference.
struct UpdateReport {
  std::int64_t update = 0;
  double seconds = 0;  // since the training began, over all runs
  double loss = 0;     // mean over the update's problems
  double mean = 0;     // ratio of the mean sample
  double best = 0;     // ratio of the best one
  double gradient_norm = 0;
  double demonstration_log_probability = 0;  // mean per choice of demonstrations; 0 without
  double rollout_share = 0;                  // of this run's seconds
};

struct TrainingSummary {
  std::int64_t updates = 0;  // over all runs
  double seconds = 0;        // over all runs
  double best_score = 0;     // of the weights that were kept
};

class TrainingLoop {
 public:
  virtual ~TrainingLoop() = default;
  TrainingLoop(const TrainingLoop&) = delete;
  TrainingLoop& operator=(const TrainingLoop&) = delete;

 protected:
  // `options` must outlive the loop. `begin` has the settings and the fingerprint of what is trained on; `resume` is
  // what a training goes on from, with its settings and seed. Throws InvalidInput where the fingerprints differ.
  TrainingLoop(const TrainingOptions& options, const CheckpointKind& kind, Checkpoint begin,
               const std::optional<Checkpoint>& resume);

  // Starts the clock, makes updates until there are as many, and validates and saves what came last. On Interrupted the
  // checkpoint and the best weights are saved before it is passed on; on WorkFailed the best weights alone, as what is
  // learned by then cannot be trusted.
  TrainingSummary RunToEnd(std::int64_t updates, std::int64_t validate_every);

  // The checkpoint as far as it is known; learner and memory are those of the last one.
  const Checkpoint& state() const { return state_; }

  double Seconds() const { return seconds_before_ + SecondsHere(); }  // over all runs
  double SecondsHere() const { return clock_.Elapsed(); }             // of this run

  // How much of the training was done when the update began, by whichever limit is nearer: 0..1.
  double Progress() const { return turn_.progress; }

  const Team& team() const { return team_; }

 private:
  virtual Learner& learner() = 0;
  virtual void Update() = 0;                            // of the learner; it is counted afterwards
  virtual void ReportUpdate() = 0;                      // once it is counted
  virtual double Validate(const Weights& average) = 0;  // the score of these weights, the higher the better
  virtual void ReportValidation(bool kept) = 0;

  // Adds to averaged weights what they have beside the learner's.
  virtual void Complete(Weights& /*average*/) const {}

  // What weights that are kept say of this training, beside its seed and updates.
  virtual void Describe(std::map<std::string, std::string>& /*metadata*/) const {}
  virtual Weights Memory() const { return {}; }

  // What is so for every rank in the update that begins.
  struct Turn {
    double progress = 0;
    bool done = false;
  };

  Turn NextTurn() const;
  bool HasBest() const { return !state_.best.tensors.empty(); }
  void ValidateAverage();
  void SaveBest() const;
  void SaveCheckpoint();

  const TrainingOptions& options_;
  Team team_;
  CheckpointKind kind_;
  Checkpoint state_;
  bool resumed_;
  double seconds_before_;  // spent by runs that this one goes on from
  std::int64_t updates_ = 0;
  Turn turn_;
  Deadline clock_, since_checkpoint_;  // without limits
};

}  // namespace millrace
