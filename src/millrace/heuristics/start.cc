// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/start.h"

#include <utility>

#include "millrace/heuristics/heuristics.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/chained_planner.h"

namespace millrace {
namespace {

class Start final : public Planner {
 public:
  explicit Start(std::stop_token stop) : Planner({.name = "start", .one_answer = true}) {
    std::vector<std::shared_ptr<const Planner>> heuristics;
    for (const std::string& name : StartHeuristicNames()) heuristics.push_back(MakeHeuristic(name));
    heuristics_ = MakeChainedPlanner("heuristics", std::move(heuristics), std::move(stop));
  }

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    if (problem.start() != nullptr) {
      offer(Assignment(*problem.start()));
      return;
    }
    Budget own;
    if (budget.seconds) own.seconds = *budget.seconds / 4;
    BestOf best = RunPlanner(*heuristics_, problem, own, random, 1);
    offer(best.kept.empty() ? std::move(best.nearest) : std::move(best.kept.front().assignment));
  }

 private:
  std::unique_ptr<const Planner> heuristics_;
};

}  // namespace

std::vector<std::string> StartHeuristicNames() {
  return {"heft", "forward-backward", "weighted-heft", "placements", "heft-append", "etf", "peft", "dls",
          "cpop", "minmin",           "maxmin",        "list",       "sequential"};
}

std::unique_ptr<Planner> MakeStart(std::stop_token stop) { return std::make_unique<Start>(std::move(stop)); }

}  // namespace millrace
