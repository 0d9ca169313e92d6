// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/critical_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

using testing::CostedProblem;

testing::RandomProblemOptions Options() {
  testing::RandomProblemOptions options;
  options.most_ops = 40;
  return options;
}

constexpr Proxy kProxies[] = {Proxy::kLinear, Proxy::kContended};

TEST(CriticalPath, ReachesWithoutAGapFromTheBeginningToTheMakespanOfEveryPlan) {
  Random random(31);
  int transfers = 0, behind = 0;
  for (int round = 0; round < 400; ++round) {
    const CostedProblem problem(random, Options(), kProxies[round % 2]);
    const Assignment assignment = problem.Start(random);
    const TracedTimeline traced = TraceTimeline(problem.costed, assignment);
    const Timeline timeline = MakeTimeline(problem.costed, assignment);
    EXPECT_EQ(traced.timeline.start, timeline.start);
    EXPECT_EQ(traced.timeline.finish, timeline.finish);
    const std::vector<CriticalStep> path = CriticalPath(traced);
    ASSERT_FALSE(path.empty());
    EXPECT_EQ(path.front().begin, 0);
    EXPECT_EQ(path.back().end, timeline.makespan);
    for (std::size_t step = 0; step < path.size(); ++step) {
      if (step > 0) {
        EXPECT_DOUBLE_EQ(path[step].begin, path[step - 1].end) << round;
      }
      if (path[step].transfer < 0) continue;
      ++transfers;
      const TracedTransfer& transfer = traced.transfers[static_cast<std::size_t>(path[step].transfer)];
      EXPECT_EQ(transfer.producer, path[step].group);
      behind += transfer.behind >= 0 ? 1 : 0;
    }
  }
  // Else nothing of this was looked at.
  EXPECT_GT(transfers, 200);
  EXPECT_GT(behind, 20);
}

TEST(TraceTimeline, NamesAReasonThatIsThereForEveryGroup) {
  Random random(32);
  for (int round = 0; round < 200; ++round) {
    const CostedProblem problem(random, Options(), kProxies[round % 2]);
    const Assignment assignment = problem.Start(random);
    const TracedTimeline traced = TraceTimeline(problem.costed, assignment);
    for (int group = 0; group < problem.costed.num_groups; ++group) {
      const StartReason& reason = traced.reasons[static_cast<std::size_t>(group)];
      const double start = traced.timeline.start[static_cast<std::size_t>(group)];
      const auto inputs = problem.costed.Predecessors(group);
      const bool reads = std::any_of(inputs.begin(), inputs.end(),
                                     [&reason](const GroupEdge& edge) { return edge.group == reason.group; });
      switch (reason.what) {
        case WaitsFor::kNothing:
          EXPECT_EQ(start, 0);
          break;
        case WaitsFor::kDevice:
          EXPECT_DOUBLE_EQ(start, traced.timeline.finish[static_cast<std::size_t>(reason.group)]);
          break;
        case WaitsFor::kInput:
          EXPECT_TRUE(reads);
          EXPECT_DOUBLE_EQ(start, traced.timeline.finish[static_cast<std::size_t>(reason.group)]);
          break;
        case WaitsFor::kTransfer:
          EXPECT_TRUE(reads);
          EXPECT_DOUBLE_EQ(start, traced.transfers[static_cast<std::size_t>(reason.transfer)].end);
          EXPECT_EQ(reason.group, traced.transfers[static_cast<std::size_t>(reason.transfer)].producer);
          break;
      }
    }
  }
}

TEST(CriticalPath, IsEmptyWithoutGroups) { EXPECT_TRUE(CriticalPath(TracedTimeline()).empty()); }

}  // namespace
}  // namespace millrace
