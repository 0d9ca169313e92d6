// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/planning/planner.h"

// Runs a planner and keeps the best of what it offers: the proxy filter every verb and the optimiser use. Seconds.
namespace millrace {

struct RatedAssignment {
  Assignment assignment;
  double makespan = 0;  // by the linear proxy, simulated again whatever the planner believed
  std::shared_ptr<const CostedGraph> costed = nullptr;  // as ProposedPlan::costed
};

struct BestOf {
  std::vector<RatedAssignment> kept;  // fit in memory, all different, ascending by makespan, equal ones as offered
  std::int64_t offered = 0;
  std::int64_t overfull = 0;          // looked good enough to keep and did not fit
  std::vector<double> nearest_peaks;  // by memory: of the offer that overflowed the least; empty without one
  Assignment nearest;                 // that offer
  bool memory_saving = false;         // changed or made to fit: nothing the planner offered did (run_in_memory.h)
};

// Keeps the `most` best offers. StopIfInterrupted between offers.
BestOf RunPlanner(const Planner& planner, const PlanningProblem& problem, const Budget& budget, Random& random,
                  std::size_t most);

// The same where the planner is shown another version of the problem than the one its offers are judged by: other
// capacities, say, or other times. Both have the same groups and devices.
BestOf RunPlannerShown(const Planner& planner, const PlanningProblem& shown, const PlanningProblem& problem,
                       const Budget& budget, Random& random, std::size_t most);

}  // namespace millrace
