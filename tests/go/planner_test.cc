// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/cost/steering.h"
#include "millrace/go/guided_search.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/problem.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/workloads/unrolled_training.h"

namespace millrace {
namespace {

TEST(GoPlanner, IsNeverBehindThePlacementByHandInTheBestOfItsOrders) {
  const std::unique_ptr<Planner> planner =
      MakeGoPlanner({.name = "go", .chooses_fusion = true}, UntrainedGoPolicy(), UntrainedMoves(), {});
  Random random(23);
  testing::RandomProblemOptions options;
  options.most_ops = 40;
  options.colocate = false;
  int ahead = 0, problems = 0;
  while (problems < testing::Rounds(20)) {
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, UnfusedGroups(*model));
    if (costed.num_groups == 0 || costed.num_devices < 2) continue;
    Budget budget;
    budget.samples = 6;
    double least = std::numeric_limits<double>::infinity();
    planner->Propose(PlanningProblem(*model, costed), budget, random, [&](const ProposedPlan& offered) {
      least = std::min(least, Simulator(costed).Makespan(offered.assignment));
    });
    const double by_hand = BestOfOrders(costed, PlaceByLayers(costed)).makespan;
    EXPECT_LE(least, by_hand * (1 + 1e-9)) << "problem " << problems;
    ahead += least < by_hand * (1 - 1e-9) ? 1 : 0;
    ++problems;
  }
  EXPECT_GT(ahead, problems / 4) << "moves and draws are of no use";
}

TEST(GoPlanner, AnnealsOnAfterItsPolicyWithAndWithoutATimeLimit) {
  const ComputationGraph graph = testing::UnrolledTraining();
  const Machine machine = *MachinePreset("p100x4");
  const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(graph, machine, Proxy::kContended);
  const GoProblem problem(*model);
  const GoDecoder decoder(problem);
  Random guided(31);
  const DecodedPlan policy_alone = SearchGuided(decoder, *UntrainedMoves(), {.looks = 2}, std::nullopt, guided);
  for (const std::optional<double> seconds : {std::optional<double>(), std::optional(1.0)}) {
    Budget budget;
    budget.samples = 2;
    budget.seconds = seconds;
    Random random(31);
    const BestOf found = RunPlanner(
        *MakeGoPlanner({.name = "go", .chooses_fusion = true}, UntrainedGoPolicy(), UntrainedMoves(), {.looks = 2}),
        PlanningProblem(*model), budget, random, 1);
    const RatedAssignment& best = found.kept.front();
    EXPECT_EQ(WhyNotValid(graph, machine, {best.costed->groups, best.assignment.placement, best.assignment.sequence}),
              std::nullopt);
    if (!seconds) {
      EXPECT_LT(best.makespan, 0.99 * policy_alone.makespan);
    }
  }
}

}  // namespace
}  // namespace millrace
