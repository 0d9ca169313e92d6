// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/gflownet/environment/least_makespan.h"
#include "tests/gflownet/environment/random_environment.h"
#include "tests/gflownet/sampling/counting_policy.h"
#include "tests/reference/offers.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::Offers;

std::unique_ptr<Planner> Uniform(const BeamOptions& options = {}) {
  return MakeBeam({.name = "beam"}, MakeUniformPolicy(), options);
}

double Fastest(const std::vector<Assignment>& plans, const CostedGraph& costed) {
  Simulator simulator(costed);
  double fastest = std::numeric_limits<double>::infinity();
  for (const Assignment& plan : plans) fastest = std::min(fastest, simulator.Makespan(plan));
  return fastest;
}

TEST(Beam, OffersAsManyValidPlansAsAskedFor) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    Budget budget;
    budget.samples = 9;
    const std::vector<Assignment> offers = Offers(*Uniform(), problem.costed, budget, Random(1));
    EXPECT_EQ(offers.size(), 9u);
    for (const Assignment& plan : offers)
      ASSERT_EQ(WhyNotValid(problem.graph, problem.machine, problem.PlanOf(plan)), std::nullopt);
    EXPECT_EQ(Offers(*Uniform(), problem.costed, budget, Random(2)), offers);
  }
}

TEST(Beam, FindsTheBestPlanOfAllWhereItKeepsEveryPartialPlan) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(60); ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {.most_ops = 6, .most_devices = 3});
    if (problem.costed.num_groups > 5) continue;
    Budget budget;
    budget.samples = 1'000'000;
    budget.seconds = 1e6;
    const std::vector<Assignment> offers =
        Offers(*Uniform({.groups = 100, .choices = 100, .first_width = 1'000'000}), problem.costed, budget, Random(1));
    const double least = testing::LeastMakespan(State(problem.environment));
    EXPECT_NEAR(Fastest(offers, problem.costed), least, 1e-9 * least) << seed;
    ++checked;
  }
  EXPECT_GT(checked, testing::Rounds(20));
}

TEST(Beam, ByHeuristicPriorsIsMostlyAheadOfTheListSchedulingThatJudgesIt) {
  Random none(0);
  const auto priors = MakeBeam({.name = "beam"}, MakeMessagePassingPolicy(InitialMessagePassingWeights(none)), {});
  int ahead = 0, behind = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    Budget budget;
    budget.samples = 16;
    const double found = Fastest(Offers(*priors, problem.costed, budget, Random(1)), problem.costed);
    const double listed = Fastest(Offers(*MakeHeuristic("heft"), problem.costed, {}, Random(1)), problem.costed);
    ahead += found < listed;
    behind += found > listed;
  }
  EXPECT_GT(ahead, 2 * behind);
}

TEST(Beam, WithoutTimeHasAPlan) {
  Random random(4);
  const EnvironmentProblem problem(random, {});
  Budget budget;
  budget.samples = 1'000'000'000;
  budget.seconds = 0;
  const std::vector<Assignment> offers = Offers(*Uniform(), problem.costed, budget, Random(1));
  ASSERT_EQ(offers.size(), 1u);
  EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, problem.PlanOf(offers.front())), std::nullopt);
}

TEST(Beam, TakesNoMoreStepsOfThePolicyThanAsManyWholePlans) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    testing::Looks looks;
    Budget budget;
    budget.samples = 20;
    const BeamOptions options;
    Offers(*MakeBeam({.name = "counted"}, std::make_shared<testing::CountingPolicy>(looks), options), problem.costed,
           budget, Random(1));
    const std::int64_t half_steps = looks.groups + looks.devices;
    EXPECT_GE(half_steps, 2 * 20 * problem.costed.num_groups);
    EXPECT_LE(half_steps, 2 * 20 * problem.costed.num_groups + options.groups);
  }
}

TEST(Beam, OfNothingIsNothing) {
  const CostedGraph nothing;
  EXPECT_EQ(Offers(*Uniform(), nothing, {}, Random(1)), std::vector<Assignment>{Assignment{}});
}

}  // namespace
}  // namespace millrace
