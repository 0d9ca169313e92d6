// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

#include "millrace/cost/analytic_cost.h"
#include "millrace/policy/one_shot_policy.h"
#include "millrace/policy/sage.h"
#include "tests/formats/refusal.h"
#include "tests/policy/problem.h"
#include "tests/policy/slow_sage.h"
#include "tests/reference/random_problem.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

struct OneShotCase {
  OneShotCase(ComputationGraph of, const Machine& machine)
      : graph(std::move(of)), model(MakeAnalyticCostModel(graph, machine)), problem(*model) {}
  OneShotCase(const OneShotCase&) = delete;
  OneShotCase& operator=(const OneShotCase&) = delete;

  const ComputationGraph graph;
  const std::unique_ptr<CostModel> model;
  const OneShotProblem problem;
};

std::unique_ptr<OneShotCase> OddCase(Random& random) {
  RandomProblemOptions options;
  options.memory = random.Below(2) == 0;
  ComputationGraph graph = RandomGraph(random, options);
  return std::make_unique<OneShotCase>(std::move(graph), RandomMachine(random, options));
}

Weights RandomWeights(std::uint64_t seed, double noise) {
  Random random(seed);
  const Weights weights = InitialSageWeights(random);
  return Shaken(weights, random, noise);
}

// Some of the tasks, or all, decided by chance.
Decisions RandomDecisions(const OneShotProblem& problem, Random& random, bool all) {
  Decisions decisions;
  if (all || random.Below(3) > 0) {
    for (std::int32_t tie = 0; tie < problem.num_ties(); ++tie) {
      std::vector<int> open;
      for (int d = 0; d < problem.num_devices(); ++d) {
        if (std::isfinite(problem.Seconds(problem.RowsOf(tie).front(), d))) open.push_back(d);
      }
      decisions.device.push_back(open.at(random.Below(open.size())));
    }
  }
  const auto levels = [&] {
    std::vector<std::uint8_t> chosen;
    for (int row = 0; row < problem.num_rows(); ++row)
      chosen.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
    return chosen;
  };
  if (all || random.Below(3) > 0) decisions.priority = levels();
  if (all || random.Below(3) > 0) decisions.fusion = levels();
  return decisions;
}

std::vector<std::vector<float>> Iterate(OneShotPass& pass, const DecisionObservation& before,
                                        const Decisions& decisions) {
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

void ExpectParity(const Weights& weights, const OneShotProblem& problem, Random& random) {
  const OneShotFeatures graph = MakeOneShotFeatures(problem);
  const SlowSageEmbedding embedding = SlowSage(weights, graph);
  OneShotPass pass = OneShotPolicy(weights).Prepare(problem).MakePass();
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

TEST(OneShotPolicy, AgreesWithItsFormulasOnOddProblems) {
  Random random(1);
  for (std::uint64_t i = 0; i < 20; ++i) ExpectParity(RandomWeights(i, 0.05), OddCase(random)->problem, random);
}

// More than two segments, the last one not full.
TEST(OneShotPolicy, AgreesWithItsFormulasAcrossSegments) {
  Random random(2);
  const OneShotCase problem(TidyGraph(random, 301), EqualMachine(3));
  ExpectParity(RandomWeights(3, 0.05), problem.problem, random);
}

TEST(OneShotPolicy, TheLogitsDoNotDependOnTheNumberOfThreads) {
  Random random(3);
  const OneShotCase problem(TidyGraph(random, 2500), EqualMachine(4));
  const OneShotPolicy policy(RandomWeights(4, 0.1));
  const ParallelLoop threads = [](int count, const std::function<void(int)>& work) {
    std::vector<std::thread> others;
    for (int i = 0; i < count; ++i) others.emplace_back([&work, i] { work(i); });
    for (std::thread& other : others) other.join();
  };
  OneShotPass one = policy.Prepare(problem.problem).MakePass();
  OneShotPass many = policy.Prepare(problem.problem, threads).MakePass(threads);
  DecisionObservation before;
  ObserveDecisions(problem.problem, RandomDecisions(problem.problem, random, true), before);
  const Decisions decisions = RandomDecisions(problem.problem, random, true);
  EXPECT_EQ(Iterate(one, before, decisions), Iterate(many, before, decisions));
}

TEST(OneShotPolicy, StartsAsItsPriors) {
  Random random(5);
  const OneShotPolicy policy(InitialSageWeights(random));
  for (int i = 0; i < 10; ++i) {
    const auto problem = OddCase(random);
    OneShotPass pass = policy.Prepare(problem->problem).MakePass();
    DecisionObservation before;
    ObserveDecisions(problem->problem, RandomDecisions(problem->problem, random, true), before);
    pass.Begin(before);
    const std::span<const float> logits = pass.Score(Task::kPlacement, {});
    for (std::int32_t tie = 0; tie < problem->problem.num_ties(); ++tie) {
      const auto rows = problem->problem.RowsOf(tie);
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
        EXPECT_NEAR(logits[static_cast<std::size_t>(tie * problem->problem.num_devices() + d)], mean,
                    1e-4 * std::max(1.0, std::fabs(mean)));
      }
    }
  }
}

TEST(OneShotPolicy, GivesTiesOneChoiceAndClosedDevicesNone) {
  Random random(6);
  const OneShotPolicy policy(RandomWeights(7, 0.1));
  int closed = 0;
  for (int i = 0; i < 20; ++i) {
    const auto problem = OddCase(random);
    OneShotPass pass = policy.Prepare(problem->problem).MakePass();
    DecisionObservation before;
    ObserveDecisions(problem->problem, {}, before);
    pass.Begin(before);
    const std::span<const float> logits = pass.Score(Task::kPlacement, {});
    ASSERT_EQ(logits.size(), static_cast<std::size_t>(problem->problem.num_ties() * problem->problem.num_devices()));
    for (std::int32_t row = 0; row < problem->problem.num_rows(); ++row) {
      for (int d = 0; d < problem->problem.num_devices(); ++d) {
        const bool open = std::isfinite(problem->problem.Seconds(row, d));
        const float logit =
            logits[static_cast<std::size_t>(problem->problem.TieOf(row) * problem->problem.num_devices() + d)];
        EXPECT_EQ(logit == kClosedLogit, !open);
        closed += open ? 0 : 1;
      }
    }
  }
  EXPECT_GT(closed, 0);
}

TEST(OneShotPolicy, DoesNotCareHowOpsAreNumbered) {
  Random random(8);
  const OneShotPolicy policy(RandomWeights(9, 0.1));
  for (int i = 0; i < 5; ++i) {
    const OneShotCase problem(TidyGraph(random, 200), EqualMachine(3));
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
    const OneShotCase other(ComputationGraph(data), EqualMachine(3));
    for (std::size_t row = 0; row < renamed.size(); ++row)
      ASSERT_EQ(other.problem.order()[row], renamed[static_cast<std::size_t>(problem.problem.order()[row])]);
    const Decisions decisions = RandomDecisions(problem.problem, random, true);
    DecisionObservation before, before_other;
    ObserveDecisions(problem.problem, decisions, before);
    ObserveDecisions(other.problem, decisions, before_other);
    OneShotPass pass = policy.Prepare(problem.problem).MakePass();
    OneShotPass pass_other = policy.Prepare(other.problem).MakePass();
    const auto logits = Iterate(pass, before, decisions);
    const auto logits_other = Iterate(pass_other, before_other, decisions);
    for (std::size_t task = 0; task < kTasks.size(); ++task) {
      for (std::size_t k = 0; k < logits[task].size(); ++k)
        EXPECT_NEAR(logits_other[task][k], logits[task][k], 1e-3 * std::max(1.0f, std::fabs(logits[task][k])));
    }
  }
}

TEST(OneShotPolicy, HasTheTensorsItSays) {
  Random random(10);
  const Weights weights = InitialSageWeights(random);
  std::set<std::string> names;
  std::size_t numbers = 0;
  for (const auto& [name, shape] : SageShapes()) {
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

TEST(OneShotPolicy, RefusesWeightsOfAnotherNetwork) {
  const Weights good = RandomWeights(11, 0.1);
  Weights other = good;
  other.metadata["architecture"] = "mpnn";
  EXPECT_THAT(RefusalOf([&] { OneShotPolicy{other}; }), HasSubstr("'mpnn'"));
  other = good;
  other.metadata["version"] = "2";
  EXPECT_THAT(RefusalOf([&] { OneShotPolicy{other}; }), HasSubstr("version '2'"));
  for (const auto& [name, shape] : SageShapes()) {
    other = good;
    other.tensors.erase(name);
    EXPECT_THAT(RefusalOf([&] { OneShotPolicy{other}; }), HasSubstr(name));
    other = good;
    other.tensors[name].shape.push_back(1);
    EXPECT_THAT(RefusalOf([&] { OneShotPolicy{other}; }), HasSubstr(name));
  }
}

TEST(OneShotPolicy, KeepsLogitsFiniteUnderAbsurdWeights) {
  Random random(12);
  Weights weights = RandomWeights(13, 1.0);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value *= 1e30f;
  }
  const OneShotPolicy policy(weights);
  for (int i = 0; i < 5; ++i) {
    const auto problem = OddCase(random);
    OneShotPass pass = policy.Prepare(problem->problem).MakePass();
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
