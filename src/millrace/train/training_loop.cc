// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/training_loop.h"

#include <fmt/core.h>

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

void TrainingLoop::RunToEnd(const LoopOptions& options) {
  options_ = options;
  begin_ = last_checkpoint_ = Clock::now();
  try {
    while (!Done()) {
      StopIfInterrupted();
      Update();
      if (UpdatesDone() % options_.validate_every == 0) Validate();
      if (SecondsSince(last_checkpoint_) > options_.checkpoint_seconds) KeepCheckpoint();
    }
  } catch (const Interrupted&) {
    KeepCheckpoint();
    SaveBest();
    throw;
  } catch (const WorkFailed& error) {
    SaveBest();
    throw WorkFailed(fmt::format("update {}: {}; the last good checkpoint{} and the best weights so far are kept",
                                 UpdatesDone() + 1, error.what(),
                                 options_.checkpoint.empty() ? "" : " (" + options_.checkpoint + ")"));
  }
  if (UpdatesDone() % options_.validate_every != 0 || !HasBest()) Validate();
  KeepCheckpoint();
  SaveBest();
}

double TrainingLoop::SecondsHere() const { return SecondsSince(begin_); }

double TrainingLoop::Progress() const {
  const double by_updates =
      static_cast<double>(UpdatesDone()) / static_cast<double>(std::max<std::int64_t>(1, options_.updates));
  const double by_time = options_.time_limit > 0 ? Seconds() / options_.time_limit : 0;
  return std::min(1.0, std::max(by_updates, by_time));
}

bool TrainingLoop::Done() const {
  return UpdatesDone() >= options_.updates || (options_.time_limit > 0 && Seconds() >= options_.time_limit);
}

void TrainingLoop::KeepCheckpoint() {
  last_checkpoint_ = Clock::now();
  if (!options_.checkpoint.empty()) SaveCheckpoint();
}

}  // namespace millrace
