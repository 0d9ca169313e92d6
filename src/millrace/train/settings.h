// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/train/objective.h"
#include "millrace/train/problems.h"

// Everything a training is made of but its seed, and the preset files it is kept in: one JSON object whose keys are the
// names below, those of ProblemSettings and those of ObjectiveSettings; a key left out keeps its default.
namespace millrace {

struct TrainingSettings {
  std::string objective = "log_partition_variance";
  std::string encoder = "mpnn";      // or "topoformer", which encodes the state at every step: for small graphs
  std::string backward = "uniform";  // P_B; or "learned", of a topoformer and by log-partition variance
  int updates = 20'000;
  int graphs_per_update = 4;
  int trajectories = 32;             // per graph
  double recorded_share = 0.25;      // of steps, for the gradient
  int most_recorded_steps = 512;     // per graph, about: on large ones the share is lower
  double lowest_temperature = 0.02;  // reward temperature, drawn log-uniformly per graph
  double highest_temperature = 1;
  double epsilon = 0;

  double learning_rate = 1e-3;  // falls linearly
  double last_learning_rate = 1e-5;
  double gradient_limit = 1;
  double average_decay = 0.999;

  // Annealed plans as examples: maximum likelihood of trajectories drawn backwards from them.
  double expert_weight = 0;       // at the start, against 1 for the objective
  double last_expert_weight = 0;  // falls linearly to this
  double expert_progress = 0;     // share of the training that uses examples only
  int expert_problems = 200;
  int expert_trajectories = 16;              // per update, of one problem
  double highest_expert_temperature = 0.06;  // examples are what sharp rewards ask for
  double expert_visits = 3e7;                // of groups and edges, by annealing, per problem

  int validate_every = 200;   // updates
  int validation_graphs = 4;  // per cell
  int validation_samples = 64;
  std::vector<double> validation_temperatures = {0.03, 0.1};

  ProblemSettings problems;
  ObjectiveSettings objective_settings;
};

// Throw InvalidInput: no JSON object, an unknown key, a value of another type or out of range, each by name.
TrainingSettings ParseSettings(std::string_view text);
TrainingSettings ReadSettings(const std::string& path);
void CheckSettings(const TrainingSettings& settings);

std::string SettingsJson(const TrainingSettings& settings);

}  // namespace millrace
