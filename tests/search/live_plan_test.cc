// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/live_plan.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/verify.h"
#include "millrace/search/moves.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

MoveMix EveryMove() {
  MoveMix mix;
  mix.sequence = mix.jump = mix.place = mix.join = mix.stretch = mix.path = 1;
  mix.critical = 0.5;
  mix.reach = 4;
  return mix;
}

// With a plan to begin with.
struct StartedProblem : testing::CostedProblem {
  explicit StartedProblem(Random& random, const testing::RandomProblemOptions& options = {})
      : CostedProblem(random, options), start(Start(random)) {}

  const Assignment start;
};

TEST(LivePlan, KeepsPlansValidAndTimedAsTheSlowSimulatorSays) {
  Random random(31);
  for (int round = 0; round < 150; ++round) {
    const StartedProblem problem(random);
    LivePlan plan(problem.costed);
    plan.Start(problem.start);
    Moves moves(plan, EveryMove());
    for (int step = 0; step < 60; ++step) {
      moves.Refresh();
      moves.Draw(random);
      const Plan changed{problem.costed.groups, plan.assignment().placement, plan.assignment().sequence};
      ASSERT_EQ(WhyNotValid(problem.graph, problem.machine, changed), std::nullopt);
      const double slow = testing::SlowSimulate(problem.graph, problem.machine, changed).makespan;
      const double before = plan.makespan();
      const double price = plan.changed() ? plan.Price(kNoLimit) : before;
      if (slow > before * (1 + 1e-9)) {
        EXPECT_NEAR(price, slow, 1e-9 * slow);
      } else {
        EXPECT_LE(price, before * (1 + 1e-9));
      }
      plan.Keep();
      ASSERT_NEAR(plan.makespan(), slow, 1e-9 * slow);
      ASSERT_EQ(plan.makespan(), MakeTimeline(problem.costed, plan.assignment()).makespan);
    }
  }
}

TEST(LivePlan, IsAsItWasOnceAChangeIsTakenBack) {
  Random random(32);
  for (int round = 0; round < 150; ++round) {
    const StartedProblem problem(random);
    LivePlan plan(problem.costed), fresh(problem.costed);
    plan.Start(problem.start);
    fresh.Start(problem.start);
    Moves moves(plan, EveryMove());
    for (int step = 0; step < 40; ++step) {
      moves.Draw(random);
      // Some prices are cut short, some never asked for.
      if (step % 3 > 0 && plan.changed()) plan.Price(step % 3 == 1 ? kNoLimit : plan.makespan());
      plan.TakeBack();
      ASSERT_EQ(plan.assignment(), problem.start);
      for (int group = 0; group < problem.costed.num_groups; ++group) {
        ASSERT_EQ(plan.Position(group), fresh.Position(group));
        ASSERT_EQ(plan.Critical(group), fresh.Critical(group));
        ASSERT_EQ(plan.NextOnUnit(group), fresh.NextOnUnit(group));
        ASSERT_EQ(plan.PreviousOnUnit(group), fresh.PreviousOnUnit(group));
      }
    }
  }
}

TEST(LivePlan, SaysThatAChangeExceedsALimitExactlyWhereItDoes) {
  Random random(33);
  int above = 0, within = 0;
  for (int round = 0; round < 200; ++round) {
    const StartedProblem problem(random);
    Simulator simulator(problem.costed);
    LivePlan plan(problem.costed);
    plan.Start(problem.start);
    Moves moves(plan, EveryMove());
    for (int step = 0; step < 40; ++step) {
      moves.Draw(random);
      const double limit = plan.makespan() * random.Uniform(1.0001, 1.2);
      const double makespan = simulator.Makespan(plan.assignment());
      const double price = plan.changed() ? plan.Price(limit) : makespan;
      if (makespan > limit * (1 + 1e-9)) {
        EXPECT_GT(price, limit);
        ++above;
      } else if (makespan < limit * (1 - 1e-9)) {
        EXPECT_LE(price, limit);
        ++within;
      }
      plan.TakeBack();
    }
  }
  EXPECT_GT(above, 500);
  EXPECT_GT(within, 500);
}

// After any history the critical groups are those of a plan begun anew.
TEST(LivePlan, KnowsTheCriticalGroupsAfterManyChanges) {
  Random random(34);
  testing::RandomProblemOptions options;
  options.most_ops = 60;
  for (int round = 0; round < 40; ++round) {
    const StartedProblem problem(random, options);
    LivePlan plan(problem.costed), fresh(problem.costed);
    plan.Start(problem.start);
    Moves moves(plan, EveryMove());
    for (int step = 0; step < 200; ++step) {
      moves.Draw(random);
      const double limit = plan.makespan() * 1.05;
      if (plan.changed() && plan.Price(limit) <= limit) {
        plan.Keep();
      } else {
        plan.TakeBack();
      }
      if (step % 20 > 0) continue;
      fresh.Start(plan.assignment());
      ASSERT_EQ(plan.makespan(), fresh.makespan());
      int critical = 0;
      for (int group = 0; group < problem.costed.num_groups; ++group) {
        ASSERT_EQ(plan.Critical(group), fresh.Critical(group));
        critical += plan.Critical(group) ? 1 : 0;
      }
      ASSERT_GT(critical, 0);
    }
  }
}

TEST(LivePlan, FitsInMemoryAfterAChangeWhereTheWholePlanDoes) {
  Random random(37);
  int fitting = 0, overfull = 0;
  for (int round = 0; round < 150; ++round) {
    const StartedProblem problem(random, {.most_ops = 60, .memory = true});
    MemoryCheck after_changes(problem.costed), whole(problem.costed);
    LivePlan plan(problem.costed);
    plan.Start(problem.start);
    Moves moves(plan, EveryMove());
    bool fits = after_changes.Fits(plan.assignment());
    for (int step = 0; step < 80; ++step) {
      moves.Draw(random);
      if (!plan.changed()) continue;
      const bool changed_fits = after_changes.FitsWith(plan.assignment(), plan.ChangedGroups());
      ASSERT_EQ(changed_fits, whole.Fits(plan.assignment())) << "round " << round << ", step " << step;
      (changed_fits ? fitting : overfull) += 1;
      if (fits && !changed_fits) {
        plan.TakeBack();
        continue;
      }
      plan.Price(kNoLimit);
      plan.Keep();
      fits = changed_fits;
    }
  }
  EXPECT_GT(fitting, 1000);
  EXPECT_GT(overfull, 1000);
}

}  // namespace
}  // namespace millrace
