// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/gflownet/environment/environment.h"

// How good a finished plan is: the logarithm of the reward R. A perfect sampler draws plans in proportion to R.
namespace millrace {

enum class RewardForm {
  // n (T_HEFT / T - 1) / temperature for n groups. The number of plans grows like exp(n), and so does the reward, so
  // that one temperature means the same on 30 groups and on 3000. The default.
  kSizeScaled,
  // (U - m) / temperature, U = sum of mean seconds / T the speedup and m the number of devices: the form of Zhang et
  // al., 2023.
  kSpeedup,
};

// What a makespan is judged by. Plans with different fusion groups are judged by one scale, that of the graph with
// every op single.
struct RewardScale {
  int groups = 0;                 // n
  int devices = 0;                // m
  double reference_makespan = 0;  // T_HEFT
  double work = 0;                // sum of mean seconds over groups
};

RewardScale RewardScaleOf(const Environment& environment);

// Log reward of a plan of this makespan (seconds). The reward temperature is > 0; lower is sharper. A makespan of 0
// counts as equal to a reference of 0. With an environment the scale is RewardScaleOf(environment).
double LogReward(const RewardScale& scale, double makespan, double temperature,
                 RewardForm form = RewardForm::kSizeScaled);
double LogReward(const Environment& environment, double makespan, double temperature,
                 RewardForm form = RewardForm::kSizeScaled);

// The temperature at which the size-scaled reward by `scale` differs between any two makespans as much as it does at
// `temperature` by `general`. A policy that was trained on problems judged by their own scale draws a part of a plan at
// this temperature.
double MatchingTemperature(const RewardScale& scale, const RewardScale& general, double temperature);

}  // namespace millrace
