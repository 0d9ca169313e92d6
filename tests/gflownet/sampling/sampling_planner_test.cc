// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/sampling_planner.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/gflownet/planners.h"
#include "millrace/gflownet/sampling/plan_set.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/plan.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

struct Problem {
  explicit Problem(int ops) {
    RandomGraphOptions options;
    options.ops = ops;
    options.ccr = 5;
    options.seed = 17;
    graph = MakeRandomGraph("layered", options);
    machine = *MachinePreset("homogeneous:3,latency=0,bandwidth=1e9");
    model = MakeAnalyticCostModel(graph, machine);
    costed = MakeCostedGraph(*model, SingleOpGroups(graph));
  }

  ComputationGraph graph;
  Machine machine;
  std::unique_ptr<CostModel> model;
  CostedGraph costed;
};

std::vector<Assignment> Drawn(const Problem& problem, std::int64_t samples, bool flatter, int threads = 1) {
  SamplingPlannerOptions options;
  options.flatter_on_repeats = flatter;
  options.threads = threads;
  Budget budget;
  budget.samples = samples;
  Random random(5);
  std::vector<Assignment> drawn;
  MakeSamplingPlanner({.name = "drawn", .takes_samples = true}, UntrainedGFlowNetPolicy(), options)
      ->Propose(PlanningProblem(*problem.model, problem.costed), budget, random,
                [&drawn](ProposedPlan plan) { drawn.push_back(std::move(plan.assignment)); });
  return drawn;
}

std::size_t Different(const Problem& problem, const std::vector<Assignment>& plans) {
  PlanSet set(problem.costed);
  for (const Assignment& plan : plans) set.Insert(plan);
  return set.size();
}

TEST(SamplingPlanner, FindsMoreDifferentPlansOfAFewOpsWhereRepeatsMakeItDrawFlatter) {
  const Problem problem(6);
  const std::vector<Assignment> sharp = Drawn(problem, 1000, false);
  const std::vector<Assignment> flatter = Drawn(problem, 1000, true);
  ASSERT_EQ(sharp.size(), 1000u);
  ASSERT_EQ(flatter.size(), 1000u);
  EXPECT_GT(Different(problem, flatter), Different(problem, sharp) * 3 / 2);
}

TEST(SamplingPlanner, DrawsTheSameAtAnyNumberOfThreads) {
  const Problem problem(7);
  const std::vector<Assignment> one = Drawn(problem, 500, true, 1);
  for (const int threads : {2, 3, 7}) EXPECT_EQ(Drawn(problem, 500, true, threads), one) << threads;
}

TEST(SamplingPlanner, DrawsLargeGraphsAsIfNothingRepeated) {
  const Problem problem(80);
  EXPECT_EQ(Drawn(problem, 300, true), Drawn(problem, 300, false));
}

}  // namespace
}  // namespace millrace
