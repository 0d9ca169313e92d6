// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "millrace/env/environment.h"
#include "millrace/policy/weights.h"
#include "millrace/rollout/replay_buffer.h"

// Adapts weights to one graph on one machine: the objective of training at low reward temperatures on that problem
// alone, and with a small weight the best plans known as examples: those given, from wherever, and those found on the
// way.
namespace millrace {

struct FinetuneSettings {
  std::optional<double> seconds;  // wall time, the two evaluations included
  std::optional<int> updates;     // one of the two limits is needed; with this one alone the result is deterministic
  double lowest_temperature = 0.002;  // reward temperatures, drawn log-uniformly
  double highest_temperature = 0.05;
  int temperatures_per_update = 2;
  int trajectories = 32;  // at each
  double recorded_share = 0.25;
  int most_recorded_steps = 512;
  double learning_rate = 3e-4;  // falls linearly to a tenth
  double average_decay = 0.98;
  double replay_weight = 0.03;       // of examples, against 1 for the objective
  int replay_plans = 16;             // kept, each shown once per update
  std::vector<Assignment> examples;  // valid plans of the environment's groups
  int evaluation_samples = 64;
  std::uint64_t seed = 0;
  int threads = 1;
  int torch_threads = 1;
};

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
  std::vector<KeptPlan> plans;  // the best different ones that were given or drawn, best first
};

// Told after every update: how many were made, and the best makespan so far, in seconds.
using FinetuneObserver = std::function<void(std::int64_t updates, double best)>;

// `environment` must outlive the call. Throws InvalidInput for weights of another architecture or shape and settings
// out of range; Interrupted; WorkFailed for a loss or gradient that is not finite.
Finetuned Finetune(const Environment& environment, const Weights& start, const FinetuneSettings& settings,
                   const FinetuneObserver& observer);

}  // namespace millrace
