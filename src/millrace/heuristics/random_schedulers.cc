// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/random_schedulers.h"

#include <algorithm>
#include <utility>

#include "millrace/heuristics/gang_choice.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/ready_queue.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

// Beyond this much doubt about ranks samples are little better than chance; devices are the more delicate choice.
constexpr double kMostRankDeviation = 0.4;
constexpr double kMostFinishDeviation = 0.05;
constexpr double kAllOfAFinish = 0.95;  // with more doubt than this a finish could count as none

}  // namespace

Assignment ScheduleAtRandom(const CostedGraph& costed, Random random) {
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  std::vector<std::int32_t> waiting;
  std::vector<int> ready;
  for (int group = 0; group < costed.num_groups; ++group) {
    waiting.push_back(static_cast<std::int32_t>(costed.Predecessors(group).size()));
    if (waiting.back() == 0) ready.push_back(group);
  }
  std::vector<int> sequence;
  sequence.reserve(waiting.size());
  while (!ready.empty()) {
    const auto drawn = static_cast<std::size_t>(random.Below(ready.size()));
    const int group = ready[drawn];
    ready[drawn] = ready.back();
    ready.pop_back();
    schedule.Consider(group);
    schedule.Place(schedule.Choose(group, [&random](int) { return random.Uniform(); }));
    sequence.push_back(group);
    for (const GroupEdge& edge : costed.Successors(group)) {
      if (--waiting[static_cast<std::size_t>(edge.group)] == 0) ready.push_back(edge.group);
    }
  }
  Assignment assignment = schedule.Finish().assignment;
  assignment.sequence = std::move(sequence);
  return assignment;
}

RandomisedList::RandomisedList(const CostedGraph& costed, double doubt) : graphs_(GangChoices(costed)), doubt_(doubt) {
  choices_.reserve(graphs_.size());
  for (const CostedGraph& graph : graphs_) {
    choices_.push_back({UpwardRanks(graph, MeanSeconds(graph), MeanTransferOf(graph.topology)),
                        PartialSchedule(graph, PartialSchedule::Gaps::kFill)});
  }
}

PlannedAssignment RandomisedList::Sample(std::int64_t number, const Random& random) {
  if (number == 0) {
    PlannedAssignment best = ScheduleHeft(graphs_.front(), PartialSchedule::Gaps::kFill);
    for (std::size_t i = 1; i < graphs_.size(); ++i) {
      PlannedAssignment planned = ScheduleHeft(graphs_[i], PartialSchedule::Gaps::kFill);
      if (planned.makespan < best.makespan) best = std::move(planned);
    }
    return best;
  }
  const std::size_t turn = static_cast<std::size_t>(number) % graphs_.size();
  PartialSchedule& schedule = choices_[turn].schedule;
  Random draw = random.Fork(static_cast<std::uint64_t>(number));
  const double rank_deviation = draw.Uniform(0.0, doubt_ * kMostRankDeviation);
  const double finish_deviation = draw.Uniform(0.0, std::min(kAllOfAFinish, doubt_ * kMostFinishDeviation));
  std::vector<double> priorities = choices_[turn].ranks;
  for (double& priority : priorities) priority *= draw.LogNormal(0.0, rank_deviation);
  // Every second draw keeps what talks together in one place, though the place may be busy then.
  const bool counts_owed = static_cast<std::size_t>(number) / graphs_.size() % 2 == 1;
  schedule.Clear();
  ReadyQueue ready(graphs_[turn], std::move(priorities));
  while (!ready.empty()) {
    const int group = ready.Pop();
    schedule.Consider(group);
    schedule.Place(schedule.Choose(group, [&](int device) {
      const double bound =
          counts_owed ? schedule.BoundSeconds(group, device) : schedule.RestOfColocation(group, device);
      return (schedule.EarliestFinish(device) + bound) * draw.Uniform(1.0 - finish_deviation, 1.0 + finish_deviation);
    }));
  }
  return schedule.Finish();
}

}  // namespace millrace
