// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

#include "millrace/go/network.h"
#include "millrace/go/policy.h"
#include "tests/formats/refusal.h"
#include "tests/go/go_case.h"
#include "tests/go/slow_go_network.h"
#include "tests/reference/shaken_weights.h"
#include "tests/reference/tidy_problem.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

Weights RandomWeights(std::uint64_t seed, double noise) {
  Random random(seed);
  const Weights weights = InitialGoWeights(random);
  return Shaken(weights, random, noise);
}

std::vector<std::vector<float>> Iterate(GoPass& pass, const DecisionObservation& before, const Decisions& decisions) {
  std::vector<std::vector<float>> logits(kTasks.size());
  Decisions chosen;
  pass.Begin(before);
  for (const Task task : kTasks) {
    if (!decisions.Has(task)) continue;
    const std::span<const float> scored = pass.Score(task, chosen);
    logits[static_cast<std::size_t>(task)].assign(scored.begin(), scored.end());
    if (task == Task::kPlacement) chosen.device = decisions.device;
    if (task == Task::kPriority) chosen.priority = decisions.priority;
  }
  return logits;
}

void ExpectParity(const Weights& weights, const GoProblem& problem, Random& random) {
  const GoFeatures graph = MakeGoFeatures(problem);
  const SlowGoEmbedding embedding = SlowSage(weights, graph);
  GoPass pass = GoPolicy(weights).Prepare(problem).MakePass();
  for (int iteration = 0; iteration < 3; ++iteration) {
    DecisionObservation before;
    ObserveDecisions(problem, iteration == 0 ? Decisions{} : RandomDecisions(problem, random, iteration == 1), before);
    const Decisions decisions = RandomDecisions(problem, random, iteration < 2);
    const auto fast = Iterate(pass, before, decisions);
    const auto slow = SlowIteration(weights, problem, graph, embedding, before, decisions);
    for (std::size_t task = 0; task < kTasks.size(); ++task) {
      ASSERT_EQ(fast[task].size(), slow[task].size());
      for (std::size_t i = 0; i < fast[task].size(); ++i)
        ASSERT_NEAR(fast[task][i], slow[task][i], 1e-4 * std::max(1.0, std::fabs(slow[task][i])));
    }
  }
}

TEST(GoPolicy, AgreesWithItsFormulasOnOddProblems) {
  Random random(1);
  for (std::uint64_t i = 0; i < 20; ++i) ExpectParity(RandomWeights(i, 0.05), OddCase(random)->problem, random);
}

// More than two segments, the last one not full.
TEST(GoPolicy, AgreesWithItsFormulasAcrossSegments) {
  Random random(2);
  const GoCase problem(TidyGraph(random, 301), EqualMachine(3));
  ExpectParity(RandomWeights(3, 0.05), problem.problem, random);
}

TEST(GoPolicy, TheLogitsDoNotDependOnTheNumberOfThreads) {
  Random random(3);
  const GoCase problem(TidyGraph(random, 2500), EqualMachine(4));
  const GoPolicy policy(RandomWeights(4, 0.1));
  const ParallelLoop threads = [](int count, const std::function<void(int)>& work) {
    std::vector<std::thread> others;
    for (int i = 0; i < count; ++i) others.emplace_back([&work, i] { work(i); });
    for (std::thread& other : others) other.join();
  };
  GoPass one = policy.Prepare(problem.problem).MakePass();
  GoPass many = policy.Prepare(problem.problem, threads).MakePass(threads);
  DecisionObservation before;
  ObserveDecisions(problem.problem, RandomDecisions(problem.problem, random, true), before);
  const Decisions decisions = RandomDecisions(problem.problem, random, true);
  EXPECT_EQ(Iterate(one, before, decisions), Iterate(many, before, decisions));
}

TEST(GoPolicy, StartsAsItsPriors) {
  Random random(5);
  const GoPolicy policy(InitialGoWeights(random));
  for (int i = 0; i < 10; ++i) {
    const auto problem = OddCase(random);
    GoPass pass = policy.Prepare(problem->problem).MakePass();
    DecisionObservation before;
    ObserveDecisions(problem->problem, RandomDecisions(problem->problem, random, true), before);
    pass.Begin(before);
    const std::span<const float> logits = pass.Score(Task::kPlacement, {});
    for (std::int32_t colocation = 0; colocation < problem->problem.num_colocations(); ++colocation) {
      const auto rows = problem->problem.RowsOf(colocation);
      for (int d = 0; d < problem->problem.num_devices(); ++d) {
        if (!std::isfinite(problem->problem.Seconds(rows.front(), d))) continue;
        double mean = 0;
        for (const std::int32_t row : rows) {
          for (std::size_t k = 0; k < kPlacePriors; ++k)
            mean +=
                kPlaceStartStrengths[k] *
                before.place_priors[static_cast<std::size_t>(row * problem->problem.num_devices() + d) * kPlacePriors +
                                    k] /
                static_cast<double>(rows.size());
        }
        EXPECT_NEAR(logits[static_cast<std::size_t>(colocation * problem->problem.num_devices() + d)], mean,
                    1e-4 * std::max(1.0, std::fabs(mean)));
      }
    }
  }
}

TEST(GoPolicy, GivesColocationsOneChoiceAndClosedDevicesNone) {
  Random random(6);
  const GoPolicy policy(RandomWeights(7, 0.1));
  int closed = 0;
  for (int i = 0; i < 20; ++i) {
    const auto problem = OddCase(random);
    GoPass pass = policy.Prepare(problem->problem).MakePass();
    DecisionObservation before;
    ObserveDecisions(problem->problem, {}, before);
    pass.Begin(before);
    const std::span<const float> logits = pass.Score(Task::kPlacement, {});
    ASSERT_EQ(logits.size(),
              static_cast<std::size_t>(problem->problem.num_colocations() * problem->problem.num_devices()));
    for (std::int32_t row = 0; row < problem->problem.num_rows(); ++row) {
      for (int d = 0; d < problem->problem.num_devices(); ++d) {
        const bool open = std::isfinite(problem->problem.Seconds(row, d));
        const float logit =
            logits[static_cast<std::size_t>(problem->problem.ColocationOf(row) * problem->problem.num_devices() + d)];
        EXPECT_EQ(logit == kClosedLogit, !open);
        closed += open ? 0 : 1;
      }
    }
  }
  EXPECT_GT(closed, 0);
}

TEST(GoPolicy, DoesNotCareHowOpsAreNumbered) {
  Random random(8);
  const GoPolicy policy(RandomWeights(9, 0.1));
  for (int i = 0; i < 5; ++i) {
    const GoCase problem(TidyGraph(random, 200), EqualMachine(3));
    std::vector<OpId> renamed(200);
    std::iota(renamed.begin(), renamed.end(), 0);
    for (std::size_t k = renamed.size(); k > 1; --k) std::swap(renamed[k - 1], renamed[random.Below(k)]);
    GraphData data = problem.graph.data();
    for (OpId op = 0; op < 200; ++op)
      data.ops[static_cast<std::size_t>(renamed[static_cast<std::size_t>(op)])] = problem.graph.op(op);
    for (Tensor& tensor : data.tensors) {
      if (tensor.producer >= 0) tensor.producer = renamed[static_cast<std::size_t>(tensor.producer)];
      for (OpId& consumer : tensor.consumers) consumer = renamed[static_cast<std::size_t>(consumer)];
    }
    const GoCase other(ComputationGraph(data), EqualMachine(3));
    for (std::size_t row = 0; row < renamed.size(); ++row)
      ASSERT_EQ(other.problem.order()[row], renamed[static_cast<std::size_t>(problem.problem.order()[row])]);
    const Decisions decisions = RandomDecisions(problem.problem, random, true);
    DecisionObservation before, before_other;
    ObserveDecisions(problem.problem, decisions, before);
    ObserveDecisions(other.problem, decisions, before_other);
    GoPass pass = policy.Prepare(problem.problem).MakePass();
    GoPass pass_other = policy.Prepare(other.problem).MakePass();
    const auto logits = Iterate(pass, before, decisions);
    const auto logits_other = Iterate(pass_other, before_other, decisions);
    for (std::size_t task = 0; task < kTasks.size(); ++task) {
      for (std::size_t k = 0; k < logits[task].size(); ++k)
        EXPECT_NEAR(logits_other[task][k], logits[task][k], 1e-3 * std::max(1.0f, std::fabs(logits[task][k])));
    }
  }
}

TEST(GoPolicy, HasTheTensorsItSays) {
  Random random(10);
  const Weights weights = InitialGoWeights(random);
  std::set<std::string> names;
  std::size_t numbers = 0;
  for (const auto& [name, shape] : GoShapes()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_NO_THROW(weights.Get(name, shape));
    numbers += weights.tensors.at(name).values.size();
  }
  EXPECT_EQ(names.size(), weights.tensors.size());
  EXPECT_LT(numbers * sizeof(float), 2'000'000u);
  for (const char* biased :
       {"input", "sage.1.mix", "condition.1", "layer.0.join", "task.first", "task.out", "norm", "place.embed",
        "place.hidden", "place.strength", "place.device.1", "priority.out", "fusion.hidden", "layer.1.norm.1"})
    EXPECT_TRUE(names.contains(biased + std::string(".bias"))) << biased;
  for (const char* unbiased : {"sage.0.forward.edge", "layer.0.query", "task.super.1", "task.which", "task.before",
                               "place.out", "place.features", "fusion.condition"}) {
    EXPECT_TRUE(names.contains(unbiased + std::string(".weight"))) << unbiased;
    EXPECT_FALSE(names.contains(unbiased + std::string(".bias"))) << unbiased;
  }
}

TEST(GoPolicy, RefusesWeightsOfAnotherNetwork) {
  const Weights good = RandomWeights(11, 0.1);
  Weights other = good;
  other.metadata["architecture"] = "mpnn";
  EXPECT_THAT(RefusalOf([&] { GoPolicy{other}; }), HasSubstr("'mpnn'"));
  other = good;
  other.metadata["version"] = "2";
  EXPECT_THAT(RefusalOf([&] { GoPolicy{other}; }), HasSubstr("version '2'"));
  for (const auto& [name, shape] : GoShapes()) {
    other = good;
    other.tensors.erase(name);
    EXPECT_THAT(RefusalOf([&] { GoPolicy{other}; }), HasSubstr(name));
    other = good;
    other.tensors[name].shape.push_back(1);
    EXPECT_THAT(RefusalOf([&] { GoPolicy{other}; }), HasSubstr(name));
  }
}

TEST(GoPolicy, KeepsLogitsFiniteUnderAbsurdWeights) {
  Random random(12);
  Weights weights = RandomWeights(13, 1.0);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value *= 1e30f;
  }
  const GoPolicy policy(weights);
  for (int i = 0; i < 5; ++i) {
    const auto problem = OddCase(random);
    GoPass pass = policy.Prepare(problem->problem).MakePass();
    DecisionObservation before;
    const Decisions decisions = RandomDecisions(problem->problem, random, true);
    ObserveDecisions(problem->problem, decisions, before);
    for (const auto& logits : Iterate(pass, before, decisions)) {
      for (const float logit : logits) EXPECT_TRUE(std::isfinite(logit));
    }
  }
}

}  // namespace
}  // namespace millrace::testing
