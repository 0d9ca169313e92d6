// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/chained_planner.h"

#include <algorithm>
#include <utility>

#include "millrace/planning/deadline.h"

namespace millrace {
namespace {

class ChainedPlanner final : public Planner {
 public:
  ChainedPlanner(std::string name, std::vector<std::shared_ptr<const Planner>> planners, std::stop_token stop)
      : Planner({.name = std::move(name)}), planners_(std::move(planners)), stop_(std::move(stop)) {}

  // As few as suits the dearest of them.
  std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const override {
    std::int64_t fewest = wanted;
    for (const auto& planner : planners_) fewest = std::min(fewest, planner->SamplesFor(problem, wanted));
    return fewest;
  }

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const Deadline deadline(budget.seconds);
    bool offered = false;
    const auto over = [&] { return deadline.Passed() || stop_.stop_requested(); };
    for (std::size_t i = 0; i < planners_.size() && !(offered && over()); ++i) {
      Random own = random.Fork(i);
      Budget rest = budget;
      if (rest.seconds) rest.seconds = deadline.Left();
      planners_[i]->Propose(problem, rest, own, [&](ProposedPlan plan) {
        offered = true;
        offer(std::move(plan));
      });
    }
  }

 private:
  std::vector<std::shared_ptr<const Planner>> planners_;
  std::stop_token stop_;
};

}  // namespace

std::unique_ptr<Planner> MakeChainedPlanner(std::string name, std::vector<std::shared_ptr<const Planner>> planners,
                                            std::stop_token stop) {
  return std::make_unique<ChainedPlanner>(std::move(name), std::move(planners), std::move(stop));
}

}  // namespace millrace
