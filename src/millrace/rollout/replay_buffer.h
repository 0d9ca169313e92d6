// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/rollout/plan_set.h"

// The best different plans of one costed graph that were found so far, of any origin: what a policy may be shown again
// as examples.
namespace millrace {

struct KeptPlan {
  Assignment assignment;
  double makespan = 0;  // seconds
};

class ReplayBuffer {
 public:
  // Keeps up to `capacity` plans, at least one. `costed` must outlive it.
  ReplayBuffer(const CostedGraph& costed, std::size_t capacity);

  // True where it is kept: no plan like it was offered before (plan_set.h), and it is among the best. Of equals the
  // first stays. O(groups) and, where it is kept, O(capacity).
  bool Offer(const Assignment& assignment, double makespan);

  // By makespan, best first.
  const std::vector<KeptPlan>& plans() const { return plans_; }

 private:
  std::size_t capacity_;
  PlanSet offered_;
  std::vector<KeptPlan> plans_;
};

}  // namespace millrace
