// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

// The course of a training, whatever it is that learns: updates until a limit, validations and checkpoints in between,
// and what is kept of it when it is interrupted or fails. Seconds.
namespace millrace {

struct LoopOptions {
  std::int64_t updates = 0;         // in all
  double time_limit = 0;            // in all; 0: none
  std::int64_t validate_every = 1;  // updates
  double seconds_before = 0;        // spent by runs that this one goes on from
  std::string checkpoint;           // file of checkpoints, for messages; empty: none is written
  double checkpoint_seconds = 180;  // between two of them
};

class TrainingLoop {
 public:
  virtual ~TrainingLoop() = default;
  TrainingLoop(const TrainingLoop&) = delete;
  TrainingLoop& operator=(const TrainingLoop&) = delete;

 protected:
  TrainingLoop() = default;

  // Starts the clock, makes updates to the end, and validates and saves what came last. On Interrupted the checkpoint
  // and the best weights are saved before it is passed on; on WorkFailed the best weights alone, as what is learned by
  // then cannot be trusted.
  void RunToEnd(const LoopOptions& options);

  double Seconds() const { return options_.seconds_before + SecondsHere(); }  // over all runs
  double SecondsHere() const;                                                 // of this run

  // How much of the training is done, by whichever limit is nearer: 0..1.
  double Progress() const;

 private:
  virtual std::int64_t UpdatesDone() const = 0;  // over all runs
  virtual bool HasBest() const = 0;              // weights that validated best so far
  virtual void Update() = 0;
  virtual void Validate() = 0;
  virtual void SaveBest() const = 0;
  virtual void SaveCheckpoint() = 0;

  bool Done() const;
  void KeepCheckpoint();

  LoopOptions options_;
  std::chrono::steady_clock::time_point begin_, last_checkpoint_;
};

}  // namespace millrace
