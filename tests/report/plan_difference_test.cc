// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/plan_difference.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

using testing::CostedProblem;

Plan PlanOf(const CostedProblem& problem, const Assignment& assignment) {
  return {problem.costed.groups, assignment.placement, assignment.sequence};
}

TEST(DifferenceOf, APlanAndItselfIsNothing) {
  Random random(51);
  for (int round = 0; round < 20; ++round) {
    const CostedProblem problem(random, {});
    const Plan plan = PlanOf(problem, problem.Start(random));
    const PlanDifference difference = DifferenceOf(problem.graph, plan, plan, problem.costed);
    EXPECT_TRUE(difference.moved.empty());
    EXPECT_EQ(difference.moved_ops, 0);
    EXPECT_EQ(difference.regrouped_ops, 0);
  }
}

TEST(DifferenceOf, HasEveryMovedOpOnceAndSaysWhatPuttingItBackCosts) {
  Random random(52);
  int put_back = 0;
  for (int round = 0; round < 200; ++round) {
    const CostedProblem problem(random, {});
    const Plan first = PlanOf(problem, problem.Start(random));
    const Plan second = PlanOf(problem, problem.Start(random));
    const PlanDifference difference = DifferenceOf(problem.graph, first, second, problem.costed);
    std::set<OpId> moved;
    for (const MovedOps& cluster : difference.moved) {
      EXPECT_NE(cluster.from, cluster.to);
      std::vector<int> placement = second.placement;
      const std::set<OpId> ops(cluster.ops.begin(), cluster.ops.end());
      for (std::size_t group = 0; group < second.groups.size(); ++group) {
        if (!ops.contains(second.groups[group].front())) continue;
        EXPECT_EQ(first.placement[group], cluster.from);
        EXPECT_EQ(second.placement[group], cluster.to);
        placement[group] = cluster.from;
      }
      moved.insert(ops.begin(), ops.end());
      // The same groups, where these ops have been before: they are whole and can run there.
      ASSERT_TRUE(cluster.makespan_if_back);
      EXPECT_EQ(*cluster.makespan_if_back, Simulator(problem.costed).Makespan(placement, second.sequence));
      ++put_back;
    }
    EXPECT_EQ(static_cast<int>(moved.size()), difference.moved_ops);
    for (std::size_t group = 0; group < second.groups.size(); ++group) {
      for (const OpId op : second.groups[group])
        EXPECT_EQ(moved.contains(op), first.placement[group] != second.placement[group]);
    }
  }
  EXPECT_GT(put_back, 100);
}

TEST(DifferenceOf, NamesOpsFusedWithOthers) {
  Random random(53);
  int regrouped = 0;
  for (int round = 0; round < 50; ++round) {
    const CostedProblem problem(random, {});
    const Plan fused = PlanOf(problem, problem.Start(random));
    const CostedGraph single = MakeCostedGraph(*problem.model, SingleOpGroups(problem.graph));
    const Plan plain = testing::RandomPlan(random, problem.graph, problem.machine, single.groups);
    int expected = 0;
    for (const auto& group : fused.groups) expected += group.size() > 1 ? static_cast<int>(group.size()) : 0;
    EXPECT_EQ(DifferenceOf(problem.graph, fused, plain, single).regrouped_ops, expected);
    regrouped += expected;
  }
  EXPECT_GT(regrouped, 0);
}

}  // namespace
}  // namespace millrace
