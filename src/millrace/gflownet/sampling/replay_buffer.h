// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/gflownet/sampling/plan_set.h"
#include "millrace/plan/plan.h"

// The best different plans of one costed graph that were found so far, whatever made them. Training shows them to a
// policy again as examples.
namespace millrace {

struct KeptPlan {
  Assignment assignment;
  double makespan = 0;  // seconds
};

class ReplayBuffer {
 public:
  // Keeps the best `capacity` plans, at least one. `costed` must outlive it.
  ReplayBuffer(const CostedGraph& costed, std::size_t capacity);

  // Keeps the plan, and returns true, if no plan like it was kept before (plan_set.h) and it is among the best. Of
  // equal makespans the earlier plan stays. O(groups), and O(capacity) if it is kept.
  bool Offer(const Assignment& assignment, double makespan);

  // By makespan, best first.
  const std::vector<KeptPlan>& plans() const { return plans_; }

 private:
  std::size_t capacity_;
  PlanSet offered_;
  std::vector<KeptPlan> plans_;
};

}  // namespace millrace
