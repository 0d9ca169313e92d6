// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/exact_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "millrace/gflownet/sampling/exact_distribution.h"
#include "tests/gflownet/policy/policy_problem.h"
#include "tests/reference/tidy_problem.h"

namespace millrace::testing {
namespace {

// The chance of every state if each step is taken in proportion to its flow.
std::vector<double> ChancesByFlow(const StateGraph& graph, const std::vector<double>& flows) {
  std::vector<double> chances(static_cast<std::size_t>(graph.num_states()), 0);
  chances[0] = 1;
  for (std::int32_t state = 0; state < graph.first_finished(); ++state) {
    const auto from = static_cast<std::size_t>(state);
    for (const StateGraph::Step& step : graph.StepsOf(state)) {
      const auto to = static_cast<std::size_t>(step.to);
      chances[to] += chances[from] * std::exp(flows[to] + step.log_backward - flows[from]);
    }
  }
  return chances;
}

TEST(ExactFlow, DrawsPlansInProportionToTheirReward) {
  Random random(1);
  for (int i = 0; i < 8; ++i) {
    const Problem problem(TidyGraph(random, 5), EqualMachine(2));
    const StateGraph graph = MakeStateGraph(problem.environment, 100'000).value();
    for (const double temperature : {0.05, 0.3, 2.0}) {
      const std::vector<double> flows = LogFlows(graph, problem.environment, temperature);
      const std::vector<double> chances = ChancesByFlow(graph, flows);
      double sum = 0;
      for (std::size_t plan = 0; plan < graph.makespans.size(); ++plan) {
        const double wanted = std::exp(LogReward(problem.environment, graph.makespans[plan], temperature) - flows[0]);
        const double chance = chances[static_cast<std::size_t>(graph.first_finished()) + plan];
        EXPECT_NEAR(chance, wanted, 1e-9);
        sum += chance;
      }
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  }
}

TEST(ExactFlow, KnowsTheStatesAndPlansThatAPolicyCanReach) {
  Random random(2);
  for (int i = 0; i < 8; ++i) {
    const auto problem = OddProblem(random);
    if (problem->costed.num_groups > 6) continue;
    const ExactDistribution reached =
        MakeExactDistribution(problem->environment, *MakeUniformPolicy()->Prepare(problem->environment, 1));
    const StateGraph graph = MakeStateGraph(problem->environment, reached.states).value();
    EXPECT_EQ(graph.num_states(), reached.states);
    ASSERT_EQ(graph.makespans.size(), reached.plans.size());
    std::vector<double> ours = graph.makespans, theirs;
    for (const ExactPlan& plan : reached.plans) theirs.push_back(plan.makespan);
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    EXPECT_EQ(ours, theirs);
    EXPECT_FALSE(MakeStateGraph(problem->environment, reached.states - 1).has_value());
  }
}

}  // namespace
}  // namespace millrace::testing
