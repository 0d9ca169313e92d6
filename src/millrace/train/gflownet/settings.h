// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/gflownet/environment/reward.h"
#include "millrace/gflownet/sampling/window.h"
#include "millrace/train/gflownet/exact_problems.h"
#include "millrace/train/gflownet/objective.h"
#include "millrace/train/gflownet/problems.h"
#include "millrace/train/torch/settings_table.h"

// Everything a training of the GFlowNet is made of but its seed and graphs, and the presets that keep it: JSON objects
// with the names of the rows of TableOf, which say what each setting means. A name left out keeps its default.
namespace millrace {

struct GFlowNetSettings {
  std::string objective = "log_partition_variance";
  std::string encoder = "mpnn";
  std::string outlook = "none";
  std::string backward = "uniform";
  std::string reward = "size-scaled";
  std::string validation = "grid";
  double prior_scale = 1;
  int updates = 20'000;
  int graphs_per_update = 4;
  int trajectories = 32;
  double recorded_share = 0.25;
  int most_recorded_steps = 512;
  double lowest_temperature = 0.02;
  double highest_temperature = 1;
  double epsilon = 0;

  // Problems of a second kind: windows of a plan that the policy has drawn (gflownet/sampling/window.h).
  double window_share = 0;
  int windows = 4;
  WindowSizes window_sizes;
  int most_window_ops = 2000;

  double learning_rate = 1e-3;
  double last_learning_rate = 1e-5;
  double gradient_limit = 1;
  double average_decay = 0.999;
  ObjectiveSettings objective_settings;
  ExactProblemSettings exact;  // of problems whose flow is worked out

  // Demonstrations are annealed plans: the likelihood of trajectories drawn backwards from them is raised.
  double demonstration_weight = 0;
  double last_demonstration_weight = 0;
  double demonstration_progress = 0;
  int demonstration_problems = 200;
  int demonstration_trajectories = 16;
  double highest_demonstration_temperature = 0.06;
  double demonstration_visits = 3e7;

  ProblemSettings problems;

  int validate_every = 200;
  int validation_graphs = 4;
  int validation_samples = 64;
  std::vector<double> validation_temperatures = {0.03, 0.1};
};

SettingsTable TableOf(GFlowNetSettings& settings);

// Throws InvalidInput, naming the setting: a value out of range, a network that the objective cannot train.
void CheckSettings(const GFlowNetSettings& settings);

// The reward of this name in the settings. Throws InvalidInput where there is none.
RewardForm RewardFormNamed(std::string_view name);

}  // namespace millrace
