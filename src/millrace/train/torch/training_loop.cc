// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/training_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

namespace millrace {

TrainingLoop::TrainingLoop(const TrainingOptions& options, const CheckpointKind& kind, Checkpoint begin,
                           const std::optional<Checkpoint>& resume)
    : options_(options), team_(options.ranks), kind_(kind), state_(std::move(begin)), resumed_(resume.has_value()) {
  state_.seed = options.seed;
  if (resume) {
    if (resume->trained_on != state_.trained_on) {
      throw InvalidInput(fmt::format("a resumed training needs the very {} it was started with", kind.trained_on));
    }
    state_ = *resume;
  }
  state_.time_limit = options.time_limit.value_or(state_.time_limit);
  seconds_before_ = state_.seconds;
}

TrainingSummary TrainingLoop::RunToEnd(std::int64_t updates, std::int64_t validate_every) {
  updates_ = updates;
  clock_ = since_checkpoint_ = Deadline();
  if (resumed_) learner().Load(state_.learner);
  try {
    for (turn_ = NextTurn(); !turn_.done; turn_ = NextTurn()) {
      StopIfInterrupted();
      Update();
      ++state_.update;
      if (!team_.Leads()) continue;
      ReportUpdate();
      if (state_.update % validate_every == 0) ValidateAverage();
      if (since_checkpoint_.Elapsed() > options_.checkpoint_seconds) SaveCheckpoint();
    }
  } catch (const Interrupted&) {
    if (!team_.Leads()) throw;
    SaveCheckpoint();
    SaveBest();
    throw;
  } catch (const WorkFailed& error) {
    if (!team_.Leads()) throw;
    SaveBest();
    throw WorkFailed(fmt::format("update {}: {}; the last good checkpoint{} and the best weights so far are kept",
                                 state_.update + 1, error.what(),
                                 options_.checkpoint.empty() ? "" : " (" + options_.checkpoint + ")"));
  }
  if (!team_.Leads()) return {.updates = state_.update, .seconds = Seconds(), .best_score = 0};
  if (state_.update % validate_every != 0 || !HasBest()) ValidateAverage();
  SaveCheckpoint();
  SaveBest();
  return {.updates = state_.update, .seconds = Seconds(), .best_score = state_.best_score};
}

TrainingLoop::Turn TrainingLoop::NextTurn() const {
  const double by_updates =
      static_cast<double>(state_.update) / static_cast<double>(std::max<std::int64_t>(1, updates_));
  const double by_time = state_.time_limit > 0 ? Seconds() / state_.time_limit : 0;
  std::vector<Turn> turn(1);
  turn.front().progress = std::min(1.0, std::max(by_updates, by_time));
  turn.front().done = state_.update >= updates_ || (state_.time_limit > 0 && Seconds() >= state_.time_limit);
  team_.Follow(std::as_writable_bytes(std::span(turn)));
  return turn.front();
}

void TrainingLoop::ValidateAverage() {
  Weights average = learner().average();
  Complete(average);
  const double score = Validate(average);
  const bool kept = !HasBest() || score > state_.best_score;
  if (kept) {
    average.metadata["trained_updates"] = std::to_string(state_.update);
    average.metadata["training_seed"] = std::to_string(state_.seed);
    Describe(average.metadata);
    state_.best = std::move(average);
    state_.best_score = score;
    SaveBest();
  }
  ReportValidation(kept);
}

void TrainingLoop::SaveBest() const {
  if (HasBest()) WriteWeights(options_.output, state_.best);
}

void TrainingLoop::SaveCheckpoint() {
  since_checkpoint_ = Deadline();
  if (options_.checkpoint.empty()) return;
  state_.learner = learner().Save();
  state_.memory = Memory();
  state_.seconds = Seconds();
  WriteCheckpoint(options_.checkpoint, kind_, state_);
}

}  // namespace millrace
