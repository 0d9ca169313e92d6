// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/ordered_placements.h"

#include <functional>
#include <utility>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "millrace/planning/deadline.h"

namespace millrace {
namespace {

class OrderedPlacements final : public Planner {
 public:
  using Planner::Planner;

  void Propose(const PlanningProblem& problem, const Budget& budget, Random&, const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    if (costed.num_groups == 0) {
      offer(Assignment{});
      return;
    }
    std::vector<std::function<std::vector<int>()>> places = {
        [&costed] { return PlaceByLayers(costed); }, [&costed] { return PlaceByPartition(costed); },
        [&costed] { return PlaceUntilFull(costed); },
        [&costed] { return ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment.placement; }};
    if (problem.start() != nullptr) places.emplace_back([&problem] { return problem.start()->placement; });
    const Deadline deadline(budget.seconds);
    bool offered = false;
    for (const auto& place : places) {
      StopIfInterrupted();
      if (offered && deadline.Passed()) return;
      for (OrderedPlacement& placed : PlacedInOrders(costed, place())) offer(std::move(placed.planned.assignment));
      offered = true;
    }
  }
};

}  // namespace

PlannerTraits OrderedPlacementsTraits() {
  // Six orders and their simulations, and sixteen executions for the seventh.
  return {.name = "placements",
          .meaning = "placements by hand, by METIS and by HEFT, each in every order",
          .seconds_per_visit = 2e-6};
}

std::unique_ptr<Planner> MakeOrderedPlacements() {
  return std::make_unique<OrderedPlacements>(OrderedPlacementsTraits());
}

}  // namespace millrace
