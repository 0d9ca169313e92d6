// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/random_steering.h"

#include "millrace/errors/errors.h"

namespace millrace::testing {
namespace {

// An op may run on a device fused and not alone, where its own time says so.
bool CanBeKept(const Steering& steering, const CostModel& model, const Machine& machine) {
  try {
    CheckSteering(model, machine, steering);
    return true;
  } catch (const InvalidInput&) {
    return false;
  }
}

}  // namespace

Steering RandomSteering(Random& random, const Plan& plan, const CostModel& model, const Machine& machine) {
  const auto ops = static_cast<std::size_t>(model.graph().num_ops());
  const double kept_share = random.Below(2) == 0 ? 0 : random.Uniform();
  const double pinned_share = random.Uniform();
  Steering steering, kept_alone;
  steering.device_of.assign(ops, -1);
  kept_alone.device_of.assign(ops, -1);
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    const bool kept = random.Uniform() < kept_share;
    if (kept) {
      steering.kept.push_back(plan.groups[group]);
      kept_alone.kept.push_back(plan.groups[group]);
    }
    for (const OpId op : plan.groups[group]) {
      if (kept) kept_alone.device_of[static_cast<std::size_t>(op)] = plan.placement[group];
      if (kept || random.Uniform() < pinned_share)
        steering.device_of[static_cast<std::size_t>(op)] = plan.placement[group];
    }
  }
  if (CanBeKept(steering, model, machine)) return steering;
  if (CanBeKept(kept_alone, model, machine)) return kept_alone;
  Steering none;
  none.device_of.assign(ops, -1);
  return none;
}

}  // namespace millrace::testing
