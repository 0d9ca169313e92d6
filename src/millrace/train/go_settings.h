// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/decisions.h"

// Everything a training of GO is made of but its seed and problems, and the preset files it is kept in: one JSON object
// whose keys are the names below; a key left out keeps its default.
namespace millrace {

struct GoSettings {
  std::vector<std::string> tasks = {"placement", "priority", "fusion"};  // the others keep their defaults
  std::vector<std::string> workloads;                                    // names of workloads to train on
  std::vector<std::string> machines;                                     // presets, each workload on each
  std::vector<std::string> validation_workloads;                         // none: those trained on
  int updates = 1000;
  int problems_per_update = 2;
  int samples = 8;     // per problem
  int iterations = 3;  // y[1], y[2], ..: each is a plan, and is rewarded as one

  int most_steps = 8;    // iterations of a problem's samples that an update learns from, by chance
  int most_rows = 4096;  // of a problem, likewise, in whole segments
  int passes = 2;
  double ratio_limit = 0.2;
  double entropy_bonus = 0.003;  // falls linearly
  double last_entropy_bonus = 0;
  double baseline_decay = 0.5;  // of a problem's moving mean reward; 0: the mean of the update's samples

  double imitation = 0;        // weight of the best decisions known for a problem, as examples
  double last_imitation = 0;   // reached linearly
  int examples = 4;            // per problem and update
  int expert_evaluations = 0;  // of a search from the best decisions known for a problem; 0: none
  int expert_searches = 1;     // per problem, one at each turn after the first

  double learning_rate = 1e-3;  // falls linearly
  double last_learning_rate = 1e-4;
  double gradient_limit = 1;
  double average_decay = 0.98;

  int validate_every = 25;  // updates
  int validation_samples = 8;
};

// Throw InvalidInput: no JSON object, an unknown key, a value of another type or out of range, each by name.
GoSettings ParseGoSettings(std::string_view text);
GoSettings ReadGoSettings(const std::string& path);
void CheckGoSettings(const GoSettings& settings);

std::string GoSettingsJson(const GoSettings& settings);

// The tasks that are switched on, in order of kTasks.
std::vector<Task> TasksOf(const GoSettings& settings);

}  // namespace millrace
