// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/own_logits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "millrace/go/network.h"
#include "millrace/go/policy.h"
#include "tests/formats/refusal.h"
#include "tests/go/go_case.h"
#include "tests/reference/tidy_problem.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

OwnLogits RandomOwnLogits(const GoProblem& problem, Random& random) {
  OwnLogits own = NoOwnLogits(problem);
  for (std::vector<float>& table : own.of_task) {
    for (float& logit : table) logit = static_cast<float>(random.Normal());
  }
  return own;
}

std::vector<float> LogitsOf(const Weights& weights, const GoProblem& problem, Task task) {
  DecisionObservation before;
  ObserveDecisions(problem, {}, before);
  GoPass pass = GoPolicy(weights).Prepare(problem).MakePass();
  pass.Begin(before);
  const std::span<const float> logits = pass.Score(task, {});
  return {logits.begin(), logits.end()};
}

TEST(OwnLogits, AreAddedToWhatTheNetworkSaysOfEveryTask) {
  Random random(1);
  for (int i = 0; i < 5; ++i) {
    const auto problem = OddCase(random);
    const Weights network = InitialGoWeights(random);
    const OwnLogits own = RandomOwnLogits(problem->problem, random);
    Weights tuned = network;
    PutOwnLogits(own, tuned);
    for (const Task task : kTasks) {
      const std::vector<float> without = LogitsOf(network, problem->problem, task);
      const std::vector<float> with = LogitsOf(tuned, problem->problem, task);
      ASSERT_EQ(with.size(), own.of(task).size());
      for (std::size_t c = 0; c < with.size(); ++c) EXPECT_EQ(with[c], without[c] + own.of(task)[c]);
    }
  }
}

TEST(OwnLogits, ComeOutOfWeightsAsTheyWentIn) {
  Random random(2);
  const auto problem = OddCase(random);
  Weights weights = InitialGoWeights(random);
  EXPECT_EQ(TakeOwnLogits(weights), std::nullopt);
  const OwnLogits own = RandomOwnLogits(problem->problem, random);
  PutOwnLogits(own, weights);
  EXPECT_EQ(TakeOwnLogits(ParseWeights(WeightsBytes(weights), "weights")), own);
}

TEST(OwnLogits, AreRefusedForAnotherGraphAnotherNumberOfDevicesAndWhereAPartIsMissing) {
  Random random(3);
  const ComputationGraph graph = TidyGraph(random, 30);
  const GoCase problem(graph, EqualMachine(3));
  Weights weights = InitialGoWeights(random);
  PutOwnLogits(NoOwnLogits(problem.problem), weights);
  const GoPolicy policy(weights);
  EXPECT_NO_THROW(policy.Prepare(problem.problem));

  const GoCase other(TidyGraph(random, 30), EqualMachine(3));
  EXPECT_THAT(RefusalOf([&] { policy.Prepare(other.problem); }), HasSubstr("fine-tuned to another graph"));
  const GoCase wider(graph, EqualMachine(4));
  EXPECT_THAT(RefusalOf([&] { policy.Prepare(wider.problem); }), HasSubstr("more or fewer devices"));

  const std::string file = ::testing::TempDir() + "own_logits.safetensors";
  WriteWeights(file, weights);
  EXPECT_THAT(RefusalOf([&] { ReadGoPolicy(file).Prepare(other.problem); }), HasSubstr(file));

  weights.tensors.erase("own.priority");
  EXPECT_THAT(RefusalOf([&] { GoPolicy{weights}; }), HasSubstr("own.priority"));
}

}  // namespace
}  // namespace millrace::testing
