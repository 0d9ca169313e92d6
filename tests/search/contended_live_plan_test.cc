// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/contended_live_plan.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "millrace/plan/verify.h"
#include "millrace/search/local_search.h"
#include "millrace/search/moves.h"
#include "millrace/simulate/contention.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

MoveMix MovesOfEveryKind() {
  MoveMix mix;
  mix.sequence = mix.jump = mix.place = mix.join = mix.stretch = mix.path = 1;
  mix.reach = 4;
  return mix;
}

// Large enough for several states to be remembered.
struct ContendedProblem : testing::CostedProblem {
  explicit ContendedProblem(Random& random, int most_ops = 150, bool fair = false)
      : CostedProblem(random, {.most_ops = most_ops, .fair = fair}, Proxy::kContended), start(Start(random)) {}

  const Assignment start;
};

TEST(ContendedLivePlan, KeepsPlansValidAndTimedAsTheSimulatorSays) {
  Random random(41);
  for (int round = 0; round < testing::Rounds(90); ++round) {
    const ContendedProblem problem(random, 150, round % 3 == 0);
    Simulator simulator(problem.costed);
    ContendedLivePlan plan(problem.costed);
    plan.Start(problem.start);
    Moves moves(plan, MovesOfEveryKind());
    for (int step = 0; step < 120; ++step) {
      moves.Draw(random);
      const Plan changed{problem.costed.groups, plan.assignment().placement, plan.assignment().sequence};
      ASSERT_EQ(WhyNotValid(problem.graph, problem.machine, changed), std::nullopt);
      const double makespan = simulator.Makespan(plan.assignment());
      if (plan.changed()) {
        ASSERT_NEAR(plan.Price(kEndless), makespan, 1e-9 * makespan);
      }
      if (random.Below(2) == 0) {
        plan.Keep();
        ASSERT_EQ(plan.makespan(), makespan);
      } else {
        plan.TakeBack();
        ASSERT_EQ(plan.makespan(), simulator.Makespan(plan.assignment()));
      }
    }
  }
}

TEST(ContendedLivePlan, SaysThatAChangeExceedsALimitExactlyWhereItDoes) {
  Random random(42);
  int above = 0, within = 0;
  for (int round = 0; round < testing::Rounds(90); ++round) {
    const ContendedProblem problem(random, 150, round % 3 == 0);
    Simulator simulator(problem.costed);
    ContendedLivePlan plan(problem.costed);
    plan.Start(problem.start);
    Moves moves(plan, MovesOfEveryKind());
    for (int step = 0; step < 80; ++step) {
      moves.Draw(random);
      const double limit = plan.makespan() * random.Uniform(0.99, 1.05);
      const double makespan = simulator.Makespan(plan.assignment());
      const double price = plan.changed() ? plan.Price(limit) : makespan;
      if (makespan > limit * (1 + 1e-9)) {
        EXPECT_GT(price, limit);
        ++above;
      } else if (makespan < limit * (1 - 1e-9)) {
        EXPECT_LE(price, limit);
        ++within;
        if (step % 2 == 0) {
          plan.Keep();
          continue;
        }
      }
      plan.TakeBack();
    }
  }
  EXPECT_GT(above, testing::Rounds(300));
  EXPECT_GT(within, testing::Rounds(300));
}

// A device or place of its own cannot help a plan whose critical groups stay as they are; moving them may.
TEST(ContendedLivePlan, FindsCriticalGroupsThatReachBackToTheStart) {
  Random random(43);
  for (int round = 0; round < 90; ++round) {
    const ContendedProblem problem(random, 150, round % 3 == 0);
    ContendedLivePlan plan(problem.costed);
    plan.Start(problem.start);
    const Timeline timeline = MakeTimeline(problem.costed, problem.start);
    bool at_start = false, at_end = false;
    for (int group = 0; group < problem.costed.num_groups; ++group) {
      if (!plan.Critical(group)) continue;
      at_start |= timeline.start[static_cast<std::size_t>(group)] == 0;
      at_end |= timeline.finish[static_cast<std::size_t>(group)] == timeline.makespan;
    }
    EXPECT_TRUE(at_start);
    EXPECT_TRUE(at_end);
  }
}

TEST(ContendedLivePlan, IsWhatLocalSearchImprovesWhereTheProxyIsContended) {
  Random random(44);
  double before = 0, after = 0;
  for (int round = 0; round < 20; ++round) {
    const ContendedProblem problem(random, 60);
    LocalSearchOptions options;
    options.iterations = 3000;
    const RatedAssignment improved = LocalSearch(problem.costed).Improve(problem.start, options, random);
    const double makespan = ContendedTimeline(problem.costed, improved.assignment).makespan;
    EXPECT_EQ(improved.makespan, makespan);
    before += ContendedTimeline(problem.costed, problem.start).makespan;
    after += makespan;
  }
  EXPECT_LT(after, 0.7 * before);
}

}  // namespace
}  // namespace millrace
