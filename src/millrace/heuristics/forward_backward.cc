// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/forward_backward.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/gang_choice.h"
#include "millrace/heuristics/list_schedulers.h"
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

struct ThereAndBack::Workspace {
  explicit Workspace(const CostedGraph& of)
      : costed(of),
        reversed(Reversed(of)),
        there(costed, PartialSchedule::Gaps::kFill),
        back(reversed, PartialSchedule::Gaps::kFill),
        simulator(costed),
        reversed_simulator(reversed) {}

  const CostedGraph& costed;
  const CostedGraph reversed;
  PartialSchedule there, back;
  Simulator simulator, reversed_simulator;
  Timeline timeline;
};

ThereAndBack::ThereAndBack(const CostedGraph& costed) : workspace_(std::make_unique<Workspace>(costed)) {}

ThereAndBack::~ThereAndBack() = default;

void ThereAndBack::Improve(const Assignment& from, const ForwardBackwardOptions& options,
                           const std::function<void(const Assignment&, double)>& offer) {
  Workspace& at = *workspace_;
  at.simulator.Run(from, at.timeline);
  double least = at.timeline.makespan;
  const auto take = [&](const Assignment& assignment, double seconds) {
    if (seconds >= least) return;
    least = seconds;
    offer(assignment, seconds);
  };
  const std::int64_t work = static_cast<std::int64_t>(at.costed.seconds.size() + at.costed.predecessors.size());
  const std::int64_t rounds = std::min<std::int64_t>(
      options.most_rounds, std::max<std::int64_t>(1, kMostPassWork / std::max<std::int64_t>(1, work)));
  int in_vain = 0;
  for (std::int64_t round = 0; round < rounds && in_vain < options.most_in_vain; ++round, ++in_vain) {
    const double before = least;
    Assignment assignment = Schedule(at.reversed, at.timeline.finish, at.back);
    at.reversed_simulator.Run(assignment, at.timeline);
    std::reverse(assignment.sequence.begin(), assignment.sequence.end());
    take(assignment, at.simulator.Makespan(assignment));
    if (options.stop()) return;
    assignment = Schedule(at.costed, at.timeline.finish, at.there);
    at.simulator.Run(assignment, at.timeline);
    take(assignment, at.timeline.makespan);
    if (options.stop()) return;
    if (least < before) in_vain = -1;
  }
}

void ScheduleForwardBackward(const CostedGraph& costed, const ForwardBackwardOptions& options,
                             const std::function<void(const Assignment&, double)>& offer) {
  const Assignment heft = ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment;
  offer(heft, Simulator(costed).Makespan(heft));
  if (!options.stop()) ThereAndBack(costed).Improve(heft, options, offer);
}

PlannerTraits ForwardBackwardTraits() {
  return {.name = "forward-backward", .meaning = "HEFT, then there and back by when groups finished"};
}

std::unique_ptr<Planner> MakeForwardBackward() { return std::make_unique<ForwardBackward>(ForwardBackwardTraits()); }

}  // namespace millrace
