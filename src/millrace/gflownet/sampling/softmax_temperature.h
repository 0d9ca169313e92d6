// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

// How sharply a sampler draws by default.
//
// A softmax temperature a little below 1 makes the best of a few dozen samples better, and hardly less varied. Every
// step may go wrong by chance, so at one temperature fewer samples are good the more groups there are. Beyond some size
// the temperature therefore falls, more slowly than the number of groups rises. And scores are differences of time: the
// dearer transfers are, the larger these become, and the sharper one temperature draws.
// Source: trials of 64 samples (docs/results/gflownet.md).
namespace millrace {

struct SoftmaxTemperature {
  double most = 0.7;    // for graphs of up to `groups` groups
  double groups = 60;   // beyond: most * (groups / number of groups) ^ power
  double power = 0.75;  // 0: the same temperature for all

  double usual_ccr = 1.5;  // where transfers take so many times as long as groups, in the mean, it is as above
  double ccr_power = 0.6;  // elsewhere times (CCR / usual) ^ power; 0: the same whatever transfers take
  double most_change = 4;  // times, either way

  double Of(int num_groups, double ccr) const {
    const double by_size = most * std::pow(groups / std::max(groups, static_cast<double>(num_groups)), power);
    return by_size * std::clamp(std::pow(ccr / usual_ccr, ccr_power), 1 / most_change, most_change);
  }
};

}  // namespace millrace
