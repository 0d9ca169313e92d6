// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

// How sharply a sampler draws by default.
//
// A softmax temperature a little below 1 makes the best of a few dozen samples better, and hardly less varied. Every
// step may go wrong by chance, so at one temperature fewer samples are good the more groups there are. Beyond some size
// the temperature therefore falls, more slowly than the number of groups rises.
// Source: trials of 64 samples on the graphs of `millrace bench quality`.
namespace millrace {

struct SoftmaxTemperature {
  double most = 0.7;    // for graphs of up to `groups` groups
  double groups = 60;   // beyond: most * (groups / number of groups) ^ power
  double power = 0.75;  // 0: the same temperature for all

  double Of(int num_groups) const {
    return most * std::pow(groups / std::max(groups, static_cast<double>(num_groups)), power);
  }
};

}  // namespace millrace
