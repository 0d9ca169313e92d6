// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/explanation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

using testing::CostedProblem;

constexpr Proxy kBoth[] = {Proxy::kLinear, Proxy::kContended};

TEST(Explain, SplitsTheWholeMakespanAmongComputingTransfersAndFullChannels) {
  Random random(41);
  for (int round = 0; round < 200; ++round) {
    const CostedProblem problem(random, {}, kBoth[round % 2]);
    const PlanExplanation explained = Explain(problem.costed, problem.Start(random));
    const double computing = std::accumulate(explained.path_busy.begin(), explained.path_busy.end(), 0.0);
    const double makespan = explained.traced.timeline.makespan;
    EXPECT_NEAR(computing + explained.path_transfers + explained.path_queues, makespan, 1e-9 * makespan);
    EXPECT_NEAR(std::accumulate(explained.path_seconds.begin(), explained.path_seconds.end(), 0.0), computing,
                1e-9 * makespan);
    for (std::size_t device = 0; device < explained.busy.size(); ++device)
      EXPECT_LE(explained.path_busy[device], explained.busy[device] * (1 + 1e-9));
  }
}

TEST(Explain, CountsNoBytesWhereEverythingIsOnOneDevice) {
  Random random(42);
  testing::RandomProblemOptions options;
  options.most_devices = 1;
  for (int round = 0; round < 20; ++round) {
    const CostedProblem problem(random, options);
    EXPECT_EQ(Explain(problem.costed, problem.Start(random)).transferred_bytes, 0);
  }
}

TEST(MostCriticalGroups, AreOnTheCriticalPathAndTheLongestComeFirst) {
  Random random(43);
  for (int round = 0; round < 50; ++round) {
    const CostedProblem problem(random, {});
    const PlanExplanation explained = Explain(problem.costed, problem.Start(random));
    const std::vector<int> groups = MostCriticalGroups(explained, 4);
    EXPECT_LE(groups.size(), 4U);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      EXPECT_GT(explained.path_seconds[static_cast<std::size_t>(groups[g])], 0);
      if (g > 0) {
        EXPECT_LE(explained.path_seconds[static_cast<std::size_t>(groups[g])],
                  explained.path_seconds[static_cast<std::size_t>(groups[g - 1])]);
      }
    }
  }
}

TEST(WhatIfMoved, TellsThePlanItselfWhereTheGroupIsAndNothingFasterThanTheGroupAnywhere) {
  Random random(44);
  for (int round = 0; round < 100; ++round) {
    const CostedProblem problem(random, {}, kBoth[round % 2]);
    const Assignment assignment = problem.Start(random);
    const Timeline timeline = MakeTimeline(problem.costed, assignment);
    for (int group = 0; group < problem.costed.num_groups; ++group) {
      const auto g = static_cast<std::size_t>(group);
      const std::vector<WhatIf> moved = WhatIfMoved(problem.costed, assignment, group);
      ASSERT_EQ(moved.size(), static_cast<std::size_t>(problem.costed.num_devices));
      EXPECT_EQ(moved[static_cast<std::size_t>(assignment.placement[g])].makespan, timeline.makespan);
      EXPECT_EQ(moved[static_cast<std::size_t>(assignment.placement[g])].finish, timeline.finish[g]);
      for (int device = 0; device < problem.costed.num_devices; ++device) {
        EXPECT_GE(moved[static_cast<std::size_t>(device)].finish, problem.costed.Seconds(group, device));
        EXPECT_GE(moved[static_cast<std::size_t>(device)].makespan, moved[static_cast<std::size_t>(device)].finish);
      }
    }
  }
}

TEST(WhatIfMoved, TellsWhatWouldNotFitInMemory) {
  GraphData data;
  data.ops.resize(2);
  for (Op& op : data.ops) {
    op.seconds.everywhere = 1;
    op.weight_bytes = 6;
  }
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, 20.0, 0}, {"1", "cpu", {1}, 1, 1, 10.0, 0}};
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const std::vector<WhatIf> moved = WhatIfMoved(costed, {{0, 1}, {0, 1}}, 0);
  EXPECT_TRUE(moved[0].fits);
  EXPECT_FALSE(moved[1].fits);
  EXPECT_EQ(moved[1].makespan, 2);
  EXPECT_TRUE(WhatIfMoved(costed, {{0, 1}, {0, 1}}, 1)[0].fits);
}

}  // namespace
}  // namespace millrace
