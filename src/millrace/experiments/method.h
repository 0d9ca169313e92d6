// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "millrace/planning/best_of.h"
#include "millrace/planning/registry.h"

// The ways of getting plans that experiments hold against each other: planners of the registry as they are, each with
// what it may spend. Seconds.
namespace millrace {

struct Method {
  std::string name;
  std::shared_ptr<const Planner> planner;
  Budget budget;
  std::size_t keep = 1;  // plans that go on, the best by the proxy
};

struct Answer {
  std::vector<RatedAssignment> plans;  // at most `keep`, ascending by proxy; fit in memory
  std::int64_t offered = 0;
  double seconds = 0;  // wall time
};

Answer Ask(const Method& method, const PlanningProblem& problem, Random& random);

// Planners of a pool, the learned ones with the weights that training starts from.
std::vector<std::string> UntrainedPoolNames(const PlannerRegistry& planners);

// "64 plans", "1 s", "-" of one plan.
std::string BudgetWords(const Budget& budget);

}  // namespace millrace
