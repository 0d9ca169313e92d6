// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/planning/planner_traits.h"
#include "millrace/planning/problem.h"
#include "millrace/random/random.h"

// Where candidate plans come from: every method that makes plans, from the one-line baseline to a search or a learned
// policy, answers to this interface.
namespace millrace {

// How much a planner may do. A deterministic limit (samples, iterations) gives the same answer every time; a time limit
// does not.
struct Budget {
  std::int64_t samples = 1;                // plans asked for
  std::optional<std::int64_t> iterations;  // steps of a search
  std::optional<double> seconds;           // wall time
};

// A plan that a planner offers.
struct ProposedPlan {
  ProposedPlan(Assignment plan) : assignment(std::move(plan)) {}  // NOLINT(google-explicit-constructor): offer(plan)
  ProposedPlan(Assignment plan, std::shared_ptr<const CostedGraph> groups)
      : assignment(std::move(plan)), costed(std::move(groups)) {}

  Assignment assignment;
  std::shared_ptr<const CostedGraph> costed;  // the groups it is of, where the planner chose them; null: the problem's
};

using Offer = std::function<void(ProposedPlan)>;

class Planner {
 public:
  explicit Planner(PlannerTraits traits) : traits_(std::move(traits)) {}
  virtual ~Planner() = default;

  const PlannerTraits& traits() const { return traits_; }
  const std::string& name() const { return traits_.name; }

  // How many plans to ask for on a problem of this size where somebody wants `wanted`: fewer where a plan is dear.
  virtual std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const;

  // Hands each plan it makes to `offer`, valid for the problem (memory aside: the caller asks FitsInMemory). The same
  // problem, budget and generator state offer the same plans in the same order, unless a time limit is set.
  virtual void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
                       const Offer& offer) const = 0;

 private:
  PlannerTraits traits_;
};

}  // namespace millrace
