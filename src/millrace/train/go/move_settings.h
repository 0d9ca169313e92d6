// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/train/torch/settings_table.h"

// Everything a training of moves is made of but its seed, and the presets that keep it: JSON objects with the names of
// the rows of TableOf, which say what each setting means. A name left out keeps its default.
namespace millrace {

struct MoveSettings {
  int cases = 160;
  int validation_cases = 24;
  int most_ops = 1500;
  std::vector<std::string> without;
  std::vector<double> fewest_blocks = {32, 128, 0};

  int updates = 100000;
  int examples = 4;
  int judged_blocks = 48;
  int most_looks = 24;
  int tries = 50;
  double proposed = 0.5;
  double softmax_temperature = 0.15;
  double unit = 0.004;
  double last_unit = 0.002;

  double learning_rate = 1e-3;
  double last_learning_rate = 1e-4;
  double gradient_limit = 1;
  double average_decay = 0.99;

  int validate_every = 150;
  int validation_looks = 20;
};

SettingsTable TableOf(MoveSettings& settings);
void CheckSettings(const MoveSettings& settings);  // throws InvalidInput, naming the setting

std::vector<int> FewestBlocks(const MoveSettings& settings);

}  // namespace millrace
