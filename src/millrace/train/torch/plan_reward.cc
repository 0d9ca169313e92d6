// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/plan_reward.h"

#include <algorithm>
#include <cmath>

#include "millrace/cost/cost_model.h"
#include "millrace/graph/index.h"
#include "millrace/simulate/contention.h"

namespace millrace {

double UsableSeconds(const CostedGraph& costed, const Assignment& assignment) {
  for (int group = 0; group < costed.num_groups; ++group) {
    if (!std::isfinite(costed.Seconds(group, assignment.placement[Index(group)]))) return kCannotRun;
  }
  return ContendedSeconds(costed, assignment).value_or(kCannotRun);
}

double PlanReward(double seconds, double reference) {
  if (!std::isfinite(seconds)) return kUnusableReward;
  return std::max(kUnusableReward, -std::sqrt(seconds / reference));
}

}  // namespace millrace
