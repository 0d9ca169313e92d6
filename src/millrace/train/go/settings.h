// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/go/decisions.h"
#include "millrace/train/torch/settings_table.h"

// Everything a training of GO is made of but its seed and problems, and the presets that keep it: JSON objects with the
// names of the rows of TableOf, which say what each setting means. A name left out keeps its default.
namespace millrace {

struct GoSettings {
  std::vector<std::string> tasks = {"placement", "priority", "fusion"};
  std::vector<std::string> workloads;
  std::vector<std::string> machines;
  std::vector<std::string> validation_workloads;
  int cases = 0;
  int validation_cases = 0;
  int most_ops = 2500;
  double longest = 1;
  int updates = 1000;
  int problems_per_update = 2;
  int samples = 8;
  int iterations = 3;
  int shared_noise = 0;

  int most_steps = 8;
  int most_rows = 4096;
  int passes = 2;
  double ratio_limit = 0.2;
  double entropy_bonus = 0.003;
  double last_entropy_bonus = 0;
  double baseline_decay = 0.5;

  // Demonstrations are the best decisions known for a problem, sampled or found by a search.
  double demonstration_weight = 0;
  double last_demonstration_weight = 0;
  int demonstrations = 4;
  int demonstration_evaluations = 0;
  int demonstration_searches = 1;

  // Logits that belong to the problem alone (go/own_logits.h), learned from the same demonstrations. 0: none.
  double own_margin = 0;

  double learning_rate = 1e-3;
  double last_learning_rate = 1e-4;
  double gradient_limit = 1;
  double average_decay = 0.98;

  int validate_every = 25;
  int validation_samples = 8;
};

SettingsTable TableOf(GoSettings& settings);
void CheckSettings(const GoSettings& settings);  // throws InvalidInput, naming the setting

// The tasks that are switched on, in order of kTasks.
std::vector<Task> TasksOf(const GoSettings& settings);

}  // namespace millrace
