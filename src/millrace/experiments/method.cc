// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/method.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "millrace/planning/deadline.h"

namespace millrace {

Answer Ask(const Method& method, const PlanningProblem& problem, Random& random) {
  const Deadline clock;
  BestOf best = RunPlanner(*method.planner, problem, method.budget, random, method.keep);
  return {std::move(best.kept), best.offered, clock.Elapsed()};
}

std::vector<std::string> UntrainedPoolNames(const PlannerRegistry& planners) {
  std::vector<std::string> names = planners.PoolNames();
  for (std::string& name : names) {
    if (planners.Traits(name).learned) name.insert(std::min(name.find('+'), name.size()), "-untrained");
  }
  return names;
}

std::string BudgetWords(const Budget& budget) {
  if (budget.seconds) return fmt::format("{} s", *budget.seconds);
  return budget.samples > 1 ? fmt::format("{} plans", budget.samples) : "-";
}

}  // namespace millrace
