// SPDX-License-Identifier: Apache-2.0
#include "millrace/env/reward.h"

#include <numeric>

namespace millrace {

double LogReward(const Environment& environment, double makespan, double temperature, RewardForm form) {
  if (form == RewardForm::kSpeedup) {
    const std::span<const double> seconds = environment.mean_seconds();
    const double work = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    const double speedup = makespan > 0 ? work / makespan : 1.0;
    return (speedup - environment.num_devices()) / temperature;
  }
  const double ratio = makespan > 0 ? environment.reference_makespan() / makespan : 1.0;
  return environment.num_groups() * (ratio - 1.0) / temperature;
}

}  // namespace millrace
