// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/random_steering.h"

namespace millrace::testing {

Steering RandomSteering(Random& random, const Plan& plan, int num_ops) {
  Steering steering;
  const double kept_share = random.Below(2) == 0 ? 0 : random.Uniform();
  const double pinned_share = random.Uniform();
  steering.device_of.assign(static_cast<std::size_t>(num_ops), -1);
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    const bool kept = random.Uniform() < kept_share;
    if (kept) steering.kept.push_back(plan.groups[group]);
    for (const OpId op : plan.groups[group]) {
      if (kept || random.Uniform() < pinned_share)
        steering.device_of[static_cast<std::size_t>(op)] = plan.placement[group];
    }
  }
  return steering;
}

}  // namespace millrace::testing
