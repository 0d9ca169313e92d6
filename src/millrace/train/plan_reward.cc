// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/plan_reward.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "millrace/simulate/contention.h"

namespace millrace {

double UsableSeconds(const CostedGraph& costed, const Assignment& assignment) {
  constexpr double kUnusable = std::numeric_limits<double>::infinity();
  for (int group = 0; group < costed.num_groups; ++group) {
    if (!std::isfinite(costed.Seconds(group, assignment.placement[static_cast<std::size_t>(group)]))) return kUnusable;
  }
  return ContendedSeconds(costed, assignment).value_or(kUnusable);
}

double PlanReward(double seconds, double reference) {
  if (!std::isfinite(seconds)) return kUnusableReward;
  return std::max(kUnusableReward, -std::sqrt(seconds / reference));
}

}  // namespace millrace
