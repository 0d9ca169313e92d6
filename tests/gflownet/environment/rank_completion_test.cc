// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/rank_completion.h"

#include <gtest/gtest.h>

#include <limits>

#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/gflownet/environment/random_environment.h"

namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::WalkByChance;

// The same by asking the state every time.
double SlowMakespan(State state, CompletionRule rule) {
  const Environment& environment = state.environment();
  while (!state.done()) {
    const std::int32_t group = state.ready().front();
    int best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (int device = 0; device < environment.num_devices(); ++device) {
      if (!state.MayRun(group, device)) continue;
      double cost = state.EarliestFinish(group, device) + state.BoundSeconds(group, device);
      if (rule == CompletionRule::kOnward) cost += environment.OptimisticCost(group, device);
      const bool tie = best >= 0 && cost == least && state.DeviceFree(device) > state.DeviceFree(best);
      if (cost >= least && !tie) continue;
      best = device;
      least = cost;
    }
    state.Append({group, best});
  }
  return state.makespan();
}

TEST(RankCompletion, IsWhatListSchedulingMakesOfAnyPartialPlan) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    RankCompletion completion(problem.environment);
    WalkByChance(problem.environment, random, [&](const State& state, Action action) {
      State next = state;
      next.Append(action);
      for (const CompletionRule rule : {CompletionRule::kFinish, CompletionRule::kOnward})
        EXPECT_EQ(completion.Makespan(state, action, rule), SlowMakespan(next, rule)) << seed;
    });
  }
}

TEST(RankCompletion, TellsThePlanThatTakesSoLong) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    Simulator simulator(problem.costed);
    RankCompletion completion(problem.environment);
    WalkByChance(problem.environment, random, [&](const State& state, Action action) {
      const Assignment plan = completion.Plan(state, action, CompletionRule::kFinish);
      ASSERT_EQ(WhyNotValid(problem.graph, problem.machine, problem.PlanOf(plan)), std::nullopt);
      const double makespan = completion.Makespan(state, action, CompletionRule::kFinish);
      EXPECT_DOUBLE_EQ(simulator.Makespan(plan), makespan);
    });
  }
}

}  // namespace
}  // namespace millrace
