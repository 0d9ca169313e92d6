// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/planning/planner.h"

// What a planner draws as a whole, and not its best plan alone: how good its plans are in the mean and how much they
// differ. Seconds.
namespace millrace {

// Offers what another planner offers, which must outlive it, and takes notes. One object serves one thread.
class NotedPlanner final : public Planner {
 public:
  // Plans that are compared with each other, the first ones: comparing takes the square of them.
  static constexpr std::size_t kMostCompared = 100;

  explicit NotedPlanner(const Planner& of) : Planner(of.traits()), of_(of) {}

  std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const override {
    return of_.SamplesFor(problem, wanted);
  }
  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random, const Offer& offer) const override;

  // By the proxy; nothing before the first plan.
  std::optional<double> mean_makespan() const;

  // Mean over pairs of the edit distance of their chain graphs, in 0..1 (plan/distance.h); nothing for fewer than two
  // plans of the same groups.
  std::optional<double> distance() const;

 private:
  const Planner& of_;
  mutable std::int64_t plans_ = 0;
  mutable double sum_ = 0;
  mutable std::vector<std::vector<std::pair<int, int>>> chains_;  // of plans of the problem's own groups
};

}  // namespace millrace
