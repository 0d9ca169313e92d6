// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/own_step.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "millrace/go/network.h"
#include "millrace/go/policy.h"
#include "millrace/go/sampler.h"
#include "tests/go/go_case.h"
#include "tests/reference/shaken_weights.h"

namespace millrace::testing {
namespace {

constexpr double kMargin = 3;

Weights AnyWeights(Random& random) {
  const Weights weights = InitialGoWeights(random);
  return Shaken(weights, random, 0.05);
}

GoPolicy With(const OwnLogits& own, Weights weights) {
  PutOwnLogits(own, weights);
  return GoPolicy(weights);
}

// Of all choices, by how much the one that was made leads every other of its row, the least.
float LeastLead(const GoProblem& problem, const GoPolicy& policy, const Decisions& before, const Decisions& decisions) {
  DecisionObservation observation;
  ObserveDecisions(problem, before, observation);
  GoPass pass = policy.Prepare(problem).MakePass();
  pass.Begin(observation);
  float least = 1e9F;
  Decisions chosen;
  for (const Task task : kTasks) {
    const std::span<const float> logits = pass.Score(task, chosen);
    const std::size_t wide = task == Task::kPlacement ? static_cast<std::size_t>(problem.num_devices()) : kLevels;
    for (std::size_t i = 0; i < logits.size() / wide; ++i) {
      if (task == Task::kFusion && problem.fusible()[i] == 0) continue;
      const std::size_t made = task == Task::kPlacement  ? static_cast<std::size_t>(decisions.device[i])
                               : task == Task::kPriority ? decisions.priority[i]
                                                         : decisions.fusion[i];
      for (std::size_t c = 0; c < wide; ++c) {
        if (c != made) least = std::min(least, logits[i * wide + made] - logits[i * wide + c]);
      }
    }
    if (task == Task::kPlacement) chosen.device = decisions.device;
    if (task == Task::kPriority) chosen.priority = decisions.priority;
  }
  return least;
}

TEST(OwnStep, MakesWhatIsImitatedLeadByTheMarginAfterEverythingThatCameBefore) {
  Random random(1);
  for (int i = 0; i < 10; ++i) {
    const auto problem = OddCase(random);
    const Weights weights = AnyWeights(random);
    const Decisions good = RandomDecisions(problem->problem, random, true);
    const std::array before = {Decisions{}, good, RandomDecisions(problem->problem, random, true)};
    OwnLogits own = NoOwnLogits(problem->problem);
    for (int again = 0; again < 2; ++again) {  // the second time it begins with what it has learned
      const PreparedGoPolicy policy = With(own, weights).Prepare(problem->problem);
      ImitateInOwnLogits(problem->problem, policy, before, good, kMargin, RunInTurn, own);
      for (const Decisions& y : before)
        EXPECT_GE(LeastLead(problem->problem, With(own, weights), y, good), kMargin - 0.01F);
    }
  }
}

TEST(OwnStep, ChangesNothingWhereTheLeadIsThereAlready) {
  Random random(2);
  const auto problem = OddCase(random);
  const Weights weights = AnyWeights(random);
  const Decisions good = RandomDecisions(problem->problem, random, true);
  const std::array before = {Decisions{}};
  OwnLogits own = NoOwnLogits(problem->problem);
  ImitateInOwnLogits(problem->problem, With(own, weights).Prepare(problem->problem), before, good, 2 * kMargin,
                     RunInTurn, own);
  const OwnLogits learned = own;
  ImitateInOwnLogits(problem->problem, With(own, weights).Prepare(problem->problem), before, good, kMargin, RunInTurn,
                     own);
  EXPECT_EQ(own, learned);
}

TEST(OwnStep, LeavesTasksAloneThatAreNotDecidedAndSaysHowLikelyTheOthersWere) {
  Random random(3);
  const auto problem = OddCase(random);
  const Weights weights = AnyWeights(random);
  Decisions good;
  good.priority = RandomDecisions(problem->problem, random, true).priority;
  const std::array before = {Decisions{}};
  const PreparedGoPolicy policy = GoPolicy(weights).Prepare(problem->problem);
  OwnLogits own = NoOwnLogits(problem->problem);
  const double mean = ImitateInOwnLogits(problem->problem, policy, before, good, kMargin, RunInTurn, own);
  EXPECT_NEAR(mean, LogProbability(problem->problem, policy, {}, good) / problem->problem.num_rows(), 1e-6);
  EXPECT_EQ(own.of(Task::kPlacement), NoOwnLogits(problem->problem).of(Task::kPlacement));
  EXPECT_EQ(own.of(Task::kFusion), NoOwnLogits(problem->problem).of(Task::kFusion));
  EXPECT_NE(own.of(Task::kPriority), NoOwnLogits(problem->problem).of(Task::kPriority));

  EXPECT_EQ(ImitateInOwnLogits(problem->problem, policy, before, {}, kMargin, RunInTurn, own), 0);
}

}  // namespace
}  // namespace millrace::testing
