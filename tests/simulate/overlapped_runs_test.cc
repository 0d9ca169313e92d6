// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/overlapped_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

using testing::CostedProblem;

// A chain of ops that take so many seconds each, on two devices without transfer times.
struct Chain {
  explicit Chain(const std::vector<double>& seconds) {
    GraphData data;
    for (std::size_t op = 0; op < seconds.size(); ++op) {
      data.ops.emplace_back();
      data.ops.back().seconds.everywhere = seconds[op];
      data.tensors.emplace_back();
      data.tensors.back().producer = static_cast<OpId>(op);
      if (op + 1 < seconds.size()) data.tensors.back().consumers = {static_cast<OpId>(op + 1)};
    }
    graph = ComputationGraph(std::move(data));
    costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:2")), SingleOpGroups(graph));
  }

  double Period(const std::vector<int>& placement) const {
    std::vector<int> sequence(costed.topological_order.begin(), costed.topological_order.end());
    return OverlappedRuns(costed).Period({placement, sequence});
  }

  ComputationGraph graph;
  CostedGraph costed;
};

TEST(OverlappedRuns, FollowEachOtherAsFastAsTheSlowestOfTwoStages) {
  const Chain chain({1, 2, 3, 1});
  EXPECT_DOUBLE_EQ(chain.Period({0, 0, 1, 1}), 4);
  EXPECT_DOUBLE_EQ(chain.Period({0, 0, 0, 1}), 6);
  EXPECT_DOUBLE_EQ(chain.Period({1, 1, 1, 1}), 7);
}

TEST(OverlappedRuns, WaitWhereAPlanComesBackToADevice) {
  // The first device does not begin the next run before it has ended this one.
  EXPECT_DOUBLE_EQ(Chain({1, 2, 1}).Period({0, 1, 0}), 4);
}

TEST(OverlappedRuns, NeverFollowFasterThanTheBusiestUnitNorSlowerThanOneAfterTheOther) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const CostedProblem problem(random, {}, round % 2 == 0 ? Proxy::kLinear : Proxy::kContended);
    const Assignment plan = problem.Start(random);
    const double period = OverlappedRuns(problem.costed).Period(plan);
    const double makespan = MakeTimeline(problem.costed, plan).makespan;
    EXPECT_GE(period, PeriodBound(problem.costed, plan) * (1 - 1e-12));
    if (problem.costed.topology.proxy == Proxy::kLinear) {
      EXPECT_LE(period, makespan * (1 + 1e-9));
    }
  }
}

TEST(OverlappedRuns, OfMoreRunsTellTheSamePeriodOfTidyPlans) {
  Random random(6);
  int same = 0;
  for (int round = 0; round < 200; ++round) {
    const CostedProblem problem(random, {.tidy = true});
    const Assignment plan = problem.Start(random);
    const double few = OverlappedRuns(problem.costed).Period(plan);
    same += few == OverlappedRuns(problem.costed, 32).Period(plan);
  }
  EXPECT_GE(same, 190);
}

}  // namespace
}  // namespace millrace
