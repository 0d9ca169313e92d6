// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/forward_backward.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/gang_choice.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/reversed.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr std::int64_t kMostPassWork = 25'000'000;  // rounds x (groups x devices + edges)

// By decreasing priority, each group where it finishes first.
Assignment Schedule(const CostedGraph& costed, const std::vector<double>& priorities, PartialSchedule& schedule) {
  StopIfInterrupted();
  schedule.Clear();
  for (const int group : ByDecreasingRank(costed, priorities)) {
    schedule.Consider(group);
    schedule.Place(schedule.FirstToFinish(group));
  }
  return schedule.Finish().assignment;
}

class ForwardBackward final : public Planner {
 public:
  using Planner::Planner;

  void Propose(const PlanningProblem& problem, const Budget& budget, Random&, const Offer& offer) const override {
    const Deadline deadline(budget.seconds);
    if (problem.costed().num_groups == 0) {
      offer(Assignment{});
      return;
    }
    ForwardBackwardOptions options;
    options.stop = [&deadline] { return deadline.Passed(); };
    BestGangChoice(problem.costed(), [&](const CostedGraph& costed) {
      PlannedAssignment best;
      ScheduleForwardBackward(costed, options, [&](const Assignment& assignment, double seconds) {
        best = {assignment, seconds};
        offer(Assignment(assignment));
      });
      return best;
    });
  }
};

}  // namespace

void ScheduleForwardBackward(const CostedGraph& costed, const ForwardBackwardOptions& options,
                             const std::function<void(const Assignment&, double)>& offer) {
  double least = std::numeric_limits<double>::infinity();
  const auto take = [&](const Assignment& assignment, double seconds) {
    if (seconds >= least && least < std::numeric_limits<double>::infinity()) return;
    least = seconds;
    offer(assignment, seconds);
  };
  PartialSchedule there(costed, PartialSchedule::Gaps::kFill);
  Assignment assignment =
      Schedule(costed, UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology)), there);
  Timeline timeline = MakeTimeline(costed, assignment);
  take(assignment, timeline.makespan);
  if (options.stop()) return;
  const CostedGraph reversed = Reversed(costed);
  PartialSchedule back(reversed, PartialSchedule::Gaps::kFill);
  Simulator simulator(costed);
  const std::int64_t work = static_cast<std::int64_t>(costed.seconds.size() + costed.predecessors.size());
  const std::int64_t rounds = std::min<std::int64_t>(
      options.most_rounds, std::max<std::int64_t>(1, kMostPassWork / std::max<std::int64_t>(1, work)));
  int in_vain = 0;
  for (std::int64_t round = 0; round < rounds && in_vain < options.most_in_vain; ++round, ++in_vain) {
    const double before = least;
    assignment = Schedule(reversed, timeline.finish, back);
    timeline = MakeTimeline(reversed, assignment);
    std::reverse(assignment.sequence.begin(), assignment.sequence.end());
    take(assignment, simulator.Makespan(assignment));
    if (options.stop()) return;
    assignment = Schedule(costed, timeline.finish, there);
    timeline = MakeTimeline(costed, assignment);
    take(assignment, timeline.makespan);
    if (options.stop()) return;
    if (least < before) in_vain = -1;
  }
}

PlannerTraits ForwardBackwardTraits() {
  return {.name = "forward-backward", .meaning = "HEFT, then there and back by when groups finished"};
}

std::unique_ptr<Planner> MakeForwardBackward() { return std::make_unique<ForwardBackward>(ForwardBackwardTraits()); }

}  // namespace millrace
