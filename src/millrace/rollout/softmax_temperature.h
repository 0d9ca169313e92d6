// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

// How sharply a sampler draws where nobody says.
//
// A softmax temperature a little below 1 makes the best of a few dozen samples better, and hardly less varied. Of many
// steps each takes its chance, so that at one temperature ever fewer samples are good the more there is to place. So
// beyond some size it falls, more slowly than the number of groups rises.
// Source: trials of 64 samples on the graphs of `millrace bench quality` (docs/results.md).
namespace millrace {

struct SoftmaxTemperature {
  double most = 0.7;    // of graphs of up to `groups`
  double groups = 60;   // beyond, most * (groups / number of groups) ^ power
  double power = 0.75;  // 0: the same for all

  double Of(int num_groups) const {
    return most * std::pow(groups / std::max(groups, static_cast<double>(num_groups)), power);
  }
};

}  // namespace millrace
