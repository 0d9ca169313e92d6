// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/reward.h"

#include <numeric>

namespace millrace {

RewardScale RewardScaleOf(const Environment& environment) {
  const std::span<const double> seconds = environment.mean_seconds();
  return {environment.num_groups(), environment.num_devices(), environment.reference_makespan(),
          std::accumulate(seconds.begin(), seconds.end(), 0.0)};
}

double LogReward(const RewardScale& scale, double makespan, double temperature, RewardForm form) {
  if (form == RewardForm::kSpeedup) {
    const double speedup = makespan > 0 ? scale.work / makespan : 1.0;
    return (speedup - scale.devices) / temperature;
  }
  const double ratio = makespan > 0 ? scale.reference_makespan / makespan : 1.0;
  return scale.groups * (ratio - 1.0) / temperature;
}

double LogReward(const Environment& environment, double makespan, double temperature, RewardForm form) {
  return LogReward(RewardScaleOf(environment), makespan, temperature, form);
}

double MatchingTemperature(const RewardScale& scale, const RewardScale& general, double temperature) {
  const double factor = general.groups * general.reference_makespan;
  const double own = scale.groups * scale.reference_makespan;
  return factor > 0 && own > 0 ? temperature * own / factor : temperature;
}

}  // namespace millrace
