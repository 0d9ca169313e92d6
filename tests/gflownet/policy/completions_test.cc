// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/completions.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/gflownet/environment/least_makespan.h"
#include "tests/gflownet/policy/policy_problem.h"
#include "tests/reference/tidy_problem.h"

namespace millrace::testing {
namespace {

TEST(Completions, AreNeverBetterThanTheBestPlanBeyondAChoiceAndNeverWorseThanTheirMean) {
  Random random(1);
  int as_good = 0, choices = 0;
  for (int i = 0; i < 6; ++i) {
    const Problem problem(TidyGraph(random, 5), EqualMachine(2));
    Completions completions(problem.environment, 0.1);
    Walk(problem.environment, random,
         [&](const State& state, const Observation&, int group, const Observation& devices) {
           std::vector<float> numbers;
           completions.Append(state, group, devices.choices, numbers);
           ASSERT_EQ(numbers.size(), devices.size() * kCompletions);
           for (std::size_t c = 0; c < devices.size(); ++c) {
             State next = state;
             next.Append({group, devices.choices[c]});
             const double best = problem.environment.reference_makespan() / LeastMakespan(next) - 1;
             EXPECT_LE(numbers[c * kCompletions], best + 1e-5);
             EXPECT_LE(numbers[c * kCompletions + 2], numbers[c * kCompletions] + 1e-5);
             EXPECT_LE(numbers[c * kCompletions + 1], numbers[c * kCompletions + 2] + 1e-5);
             as_good += numbers[c * kCompletions] > best - 1e-5 ? 1 : 0;
             ++choices;
           }
         });
  }
  EXPECT_GT(as_good, choices / 2);
}

TEST(Completions, OfTheLastGroupAreItsPlans) {
  Random random(2);
  for (int i = 0; i < 20; ++i) {
    const auto problem = OddProblem(random);
    Completions completions(problem->environment, 0.3);
    Walk(problem->environment, random,
         [&](const State& state, const Observation&, int group, const Observation& devices) {
           if (state.steps() + 1 < problem->environment.num_groups()) return;
           std::vector<float> numbers;
           completions.Append(state, group, devices.choices, numbers);
           for (std::size_t c = 0; c < devices.size(); ++c) {
             State next = state;
             next.Append({group, devices.choices[c]});
             if (!(next.makespan() > 0)) continue;
             const double ratio = problem->environment.reference_makespan() / next.makespan() - 1;
             for (int m = 0; m < kCompletions; ++m)
               EXPECT_NEAR(numbers[c * kCompletions + m], ratio, 1e-4 * (1 + std::abs(ratio)));
           }
         });
  }
}

}  // namespace
}  // namespace millrace::testing
