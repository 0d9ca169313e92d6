// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/env/environment.h"

// How good a finished plan is: the logarithm of the reward that a sampler's probabilities are to be proportional to.
namespace millrace {

enum class RewardForm {
  // n (T_HEFT / T - 1) / temperature for n groups: the number of plans grows like exp(n), so does what they compete
  // for,
  // and one temperature means the same on 30 groups and on 3000. The default.
  kSizeScaled,
  // (U - m) / temperature, U = sum of mean seconds / T the speedup and m the number of devices: the form of Zhang et
  // al., 2023.
  kSpeedup,
};

// Log reward of a plan of this makespan (seconds). Reward temperature > 0; lower is sharper. A makespan of 0 counts as
// the reference's where that is 0 too.
double LogReward(const Environment& environment, double makespan, double temperature,
                 RewardForm form = RewardForm::kSizeScaled);

}  // namespace millrace
