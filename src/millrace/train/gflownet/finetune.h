// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/sampling/replay_buffer.h"
#include "millrace/network/weights.h"
#include "millrace/plan/plan.h"
#include "millrace/train/torch/settings_table.h"

// Adapts the GFlowNet's weights to one graph on one machine: the objective of training at low reward temperatures on
// that problem alone and, with a small weight, the likelihood of the best plans known. These are given demonstrations,
// of any origin, and plans sampled on the way; a replay buffer keeps them. Times are seconds.
namespace millrace {

// The rows of TableOf say what the settings that are numbers mean.
struct FinetuneSettings {
  std::optional<double> seconds;  // wall time, the two evaluations included
  std::optional<int> updates;     // one of the two limits is needed; with this one alone the result is deterministic
  double lowest_temperature = 0.002;
  double highest_temperature = 0.05;
  int temperatures_per_update = 2;
  int trajectories = 32;
  double recorded_share = 0.25;
  int most_recorded_steps = 512;
  double learning_rate = 3e-4;
  double average_decay = 0.98;
  double replay_weight = 0.03;
  int replay_plans = 16;
  int evaluation_samples = 64;
  std::vector<Assignment> demonstrations;  // valid plans of the environment's groups
  std::uint64_t seed = 0;
  int threads = 1;
  int torch_threads = 1;
};

SettingsTable TableOf(FinetuneSettings& settings);

// Throws InvalidInput, naming the setting, and where there is no limit.
void CheckSettings(const FinetuneSettings& settings);

// Makespans of `evaluation_samples` plans, drawn at the lowest, the middle and the highest temperature in equal shares.
struct SampleQuality {
  double best = 0;  // seconds
  double mean = 0;
  double typical_best = 0;  // mean over the temperatures of the best there: less a matter of luck than the best of all
};

struct Finetuned {
  Weights weights;  // averaged; the start's where their typical best is better
  SampleQuality before, after;
  std::int64_t updates = 0;
  double seconds = 0;
  std::vector<KeptPlan> plans;  // the best different ones that were given or sampled, best first
};

// Told after every update: how many were made, and the best makespan so far, in seconds.
using FinetuneObserver = std::function<void(std::int64_t updates, double best)>;

// The reward is the one that the start was trained by. `environment` must outlive the call. Throws InvalidInput for
// weights of another architecture or shape and settings out of range; Interrupted; WorkFailed for a loss or gradient
// that is not finite.
Finetuned Finetune(const Environment& environment, const Weights& start, const FinetuneSettings& settings,
                   const FinetuneObserver& observer);

}  // namespace millrace
