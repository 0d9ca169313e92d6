// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/drawn_plans.h"

#include <memory>

#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"
#include "millrace/simulate/timeline.h"

namespace millrace {

void NotedPlanner::Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
                           const Offer& offer) const {
  std::unique_ptr<Simulator> simulator;  // of the problem's own groups
  of_.Propose(problem, budget, random, [&](ProposedPlan plan) {
    ++plans_;
    if (plan.costed != nullptr) {
      sum_ += Simulator(*plan.costed).Makespan(plan.assignment);
    } else {
      if (simulator == nullptr) simulator = std::make_unique<Simulator>(problem.costed());
      sum_ += simulator->Makespan(plan.assignment);
      if (chains_.size() < kMostCompared) chains_.push_back(ChainEdges(problem.costed().topology, plan.assignment));
    }
    offer(std::move(plan));
  });
}

std::optional<double> NotedPlanner::mean_makespan() const {
  if (plans_ == 0) return std::nullopt;
  return sum_ / static_cast<double>(plans_);
}

std::optional<double> NotedPlanner::distance() const {
  if (chains_.size() < 2) return std::nullopt;
  double sum = 0, pairs = 0;
  for (std::size_t a = 0; a < chains_.size(); ++a) {
    for (std::size_t b = a + 1; b < chains_.size(); ++b, ++pairs) sum += ChainEditDistance(chains_[a], chains_[b]);
  }
  return sum / pairs;
}

}  // namespace millrace
