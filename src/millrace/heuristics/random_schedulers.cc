// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/random_schedulers.h"

#include "millrace/heuristics/ready_queue.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

// Beyond this much doubt about ranks samples are little better than chance; devices are the more delicate choice.
constexpr double kMostRankDeviation = 0.4;
constexpr double kMostFinishDeviation = 0.05;

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

RandomisedList::RandomisedList(const CostedGraph& costed)
    : costed_(costed),
      ranks_(UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology))),
      schedule_(costed, PartialSchedule::Gaps::kFill) {}

PlannedAssignment RandomisedList::Sample(Random random, bool without_doubt) {
  const double rank_deviation = without_doubt ? 0.0 : random.Uniform(0.0, kMostRankDeviation);
  const double finish_deviation = without_doubt ? 0.0 : random.Uniform(0.0, kMostFinishDeviation);
  std::vector<double> priorities = ranks_;
  for (double& priority : priorities) priority *= random.LogNormal(0.0, rank_deviation);
  schedule_.Clear();
  ReadyQueue ready(costed_, std::move(priorities));
  while (!ready.empty()) {
    const int group = ready.Pop();
    schedule_.Consider(group);
    schedule_.Place(schedule_.Choose(group, [&](int device) {
      return (schedule_.EarliestFinish(device) + schedule_.RestOfColocation(group, device)) *
             random.Uniform(1.0 - finish_deviation, 1.0 + finish_deviation);
    }));
  }
  return schedule_.Finish();
}

}  // namespace millrace
