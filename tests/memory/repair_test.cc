// SPDX-License-Identifier: Apache-2.0
#include "millrace/memory/repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

const auto kGoOn = [] { return false; };

TEST(MoveUntilItFits, MakesManyPlansFitAndKeepsThemValid) {
  Random random(1);
  int repaired = 0;
  int overfull = 0;
  for (int i = 0; i < 150; ++i) {
    testing::RandomProblemOptions options;
    options.most_ops = 40;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const FusionGroups groups = testing::RandomGroups(random, graph);
    CostedGraph costed;
    Plan start;
    try {
      costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), groups);
      start = testing::RandomPlan(random, graph, machine, groups);
    } catch (const std::exception&) {
      continue;  // what must share a device can run nowhere
    }
    const Assignment assignment{start.placement, start.sequence};
    std::vector<double> peaks = PeakMemory(costed, assignment, MakeTimeline(costed, assignment));
    double most = 0;
    for (const double peak : peaks) most = std::max(most, peak);
    std::fill(costed.topology.memory_bytes.begin(), costed.topology.memory_bytes.end(), 0.9 * most);
    costed.limited_memory = true;
    if (Fits(costed, peaks)) continue;
    ++overfull;
    EXPECT_EQ(MoveUntilItFits(costed, assignment, 0, kGoOn, random), std::nullopt);
    EXPECT_EQ(MoveUntilItFits(
                  costed, assignment, 500, [] { return true; }, random),
              std::nullopt);
    const std::optional<Assignment> fitting = MoveUntilItFits(costed, assignment, 500, kGoOn, random);
    if (!fitting) continue;
    ++repaired;
    EXPECT_TRUE(FitsInMemory(costed, *fitting));
    EXPECT_EQ(fitting->sequence, assignment.sequence);
    EXPECT_EQ(WhyNotValid(graph, machine, Plan{groups, fitting->placement, fitting->sequence}), std::nullopt);
  }
  EXPECT_GT(repaired, overfull / 4) << "of " << overfull;
}

TEST(MoveUntilItFits, LeavesAPlanThatFitsAlone) {
  Random random(2);
  const ComputationGraph graph = testing::RandomGraph(random, {.kinds = false, .colocate = false});
  const Machine machine = testing::RandomMachine(random);
  const Plan plan = testing::RandomPlan(random, graph, machine, SingleOpGroups(graph));
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), plan.groups);
  const Assignment assignment{plan.placement, plan.sequence};
  EXPECT_EQ(MoveUntilItFits(costed, assignment, 10, kGoOn, random), assignment);
}

}  // namespace
}  // namespace millrace
