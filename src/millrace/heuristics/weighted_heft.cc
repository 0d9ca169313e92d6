// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/weighted_heft.h"

#include <array>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/graph/index.h"
#include "millrace/heuristics/gang_choice.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/deadline.h"

namespace millrace {
namespace {

constexpr std::array kRankWeights = {1.0, 0.0, 0.25, 0.5, 2.0, 4.0, 8.0};
constexpr std::array kDeviceWeights = {0.0, 0.25};

class WeightedHeft final : public Planner {
 public:
  using Planner::Planner;

  void Propose(const PlanningProblem& problem, const Budget& budget, Random&, const Offer& offer) const override {
    const Deadline deadline(budget.seconds);
    if (problem.costed().num_groups == 0) {
      offer(Assignment{});
      return;
    }
    bool first = true;
    for (const double device : kDeviceWeights) {
      for (const double rank : kRankWeights) {
        StopIfInterrupted();
        if (!first && deadline.Passed()) return;
        first = false;
        offer(BestGangChoice(problem.costed(), [&](const CostedGraph& costed) {
                return ScheduleWeightedHeft(costed, {rank, device});
              }).assignment);
      }
    }
  }
};

}  // namespace

PlannedAssignment ScheduleWeightedHeft(const CostedGraph& costed, const TransferWeights& weights) {
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kFill);
  MeanTransfer transfer = MeanTransferOf(costed.topology);
  transfer.latency *= weights.rank;
  transfer.seconds_per_byte *= weights.rank;
  std::vector<int> placement(Index(costed.num_groups), -1);
  for (const int group : ByDecreasingRank(costed, UpwardRanks(costed, MeanSeconds(costed), transfer))) {
    schedule.Consider(group);
    const int device = schedule.Choose(group, [&](int here) {
      double key = schedule.EarliestFinish(here) + schedule.BoundSeconds(group, here);
      if (weights.device > 0) {
        for (const GroupEdge& edge : costed.Predecessors(group))
          key += weights.device * costed.TransferSeconds(edge.bytes, placement[Index(edge.group)], here);
      }
      return key;
    });
    schedule.Place(device);
    placement[Index(group)] = device;
  }
  return schedule.Finish();
}

PlannerTraits WeightedHeftTraits() {
  return {.name = "weighted-heft", .meaning = "HEFT with transfers counted for more or less"};
}

std::unique_ptr<Planner> MakeWeightedHeft() { return std::make_unique<WeightedHeft>(WeightedHeftTraits()); }

}  // namespace millrace
