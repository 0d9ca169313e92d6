// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/go/network.h"
#include "millrace/go/policy.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

// Weights where every part of the network counts: the initial ones keep the last layers at zero.
Weights AnyGoWeights(std::uint64_t seed) {
  Random random(seed);
  Weights weights = InitialGoWeights(random);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.1 * random.Normal());
  }
  return weights;
}

// A problem with all that belongs to it.
struct Posed {
  ComputationGraph graph;
  Machine machine;
  std::unique_ptr<CostModel> model;
  std::unique_ptr<GoProblem> problem;
  GoFeatures features;

  Posed(ComputationGraph g, Machine m) : graph(std::move(g)), machine(std::move(m)) {
    model = MakeAnalyticCostModel(graph, machine);
    problem = std::make_unique<GoProblem>(*model);
    features = MakeGoFeatures(*problem);
  }
};

// Seven segments and a bit unless told otherwise, some ops colocated to one device, some that may fuse.
std::unique_ptr<Posed> Long(std::uint64_t seed, std::int64_t ops = 910) {
  GraphData data = MakeRandomGraph("layered", {.ops = ops, .ccr = 2, .seed = seed}).data();
  for (std::size_t i = 0; i < data.ops.size(); ++i) {
    if (i % 7 == 0) data.ops[i].colocate = "colocation" + std::to_string(i % 35);
    if (i % 3 == 0) data.ops[i].type = "Relu";
    if (i % 3 == 1) data.ops[i].type = "MatMul";
  }
  return std::make_unique<Posed>(ComputationGraph(std::move(data)),
                                 *MachinePreset("homogeneous:3,latency=0.1,bandwidth=1e9"));
}

Decisions AnyDecisions(const GoProblem& problem, const std::array<bool, kTasks.size()>& tasks, Random& random) {
  Decisions decisions;
  for (std::int32_t colocation = 0; colocation < problem.num_colocations() && tasks[0]; ++colocation) {
    int device = 0;
    do {
      device = static_cast<int>(random.Below(static_cast<std::uint64_t>(problem.num_devices())));
    } while (!std::isfinite(problem.Seconds(problem.RowsOf(colocation).front(), device)));
    decisions.device.push_back(device);
  }
  for (std::int32_t row = 0; row < problem.num_rows(); ++row) {
    const bool fusible = problem.fusible()[static_cast<std::size_t>(row)] != 0;
    if (tasks[1]) decisions.priority.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
    if (tasks[2]) decisions.fusion.push_back(static_cast<std::uint8_t>(fusible ? random.Below(kLevels) : 0));
  }
  return decisions;
}

double LogOf(std::span<const float> logits, std::size_t chosen) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  return logits[chosen] - most - std::log(sum);
}

// Log probability of each task's choices by the plain C++ policy; of rows, those from `first` to before `end`.
std::array<double, kTasks.size()> ByPolicy(const Weights& weights, const Posed& posed, const GoStep& step, int first,
                                           int end) {
  const GoProblem& problem = *posed.problem;
  const PreparedGoPolicy prepared = GoPolicy(weights).Prepare(problem);
  GoPass pass = prepared.MakePass();
  pass.Begin(*step.before);
  Decisions known;
  std::array<double, kTasks.size()> sums{};
  if (step.chosen.Has(Task::kPlacement)) {
    const auto devices = static_cast<std::size_t>(problem.num_devices());
    const std::span<const float> logits = pass.Score(Task::kPlacement, known);
    for (std::int32_t colocation = 0; colocation < problem.num_colocations(); ++colocation) {
      if (problem.RowsOf(colocation).front() < first || problem.RowsOf(colocation).back() >= end) continue;
      const auto at = static_cast<std::size_t>(colocation);
      sums[0] += LogOf(logits.subspan(at * devices, devices), static_cast<std::size_t>(step.chosen.device[at]));
    }
    known.device = step.chosen.device;
  }
  for (const Task task : {Task::kPriority, Task::kFusion}) {
    if (!step.chosen.Has(task)) continue;
    const bool fusion = task == Task::kFusion;
    const std::vector<std::uint8_t>& levels = fusion ? step.chosen.fusion : step.chosen.priority;
    const std::span<const float> logits = pass.Score(task, known);
    for (auto row = static_cast<std::size_t>(first); row < static_cast<std::size_t>(end); ++row) {
      if (fusion && problem.fusible()[row] == 0) continue;
      sums[fusion ? 2 : 1] += LogOf(logits.subspan(row * kLevels, kLevels), levels[row]);
    }
    if (!fusion) known.priority = levels;
  }
  return sums;
}

GoStep AnyStep(const Posed& posed, const std::array<bool, kTasks.size()>& before,
               const std::array<bool, kTasks.size()>& tasks, Random& random) {
  auto observation = std::make_shared<DecisionObservation>();
  ObserveDecisions(*posed.problem, AnyDecisions(*posed.problem, before, random), *observation);
  return MakeGoStep(*posed.problem, std::move(observation), AnyDecisions(*posed.problem, tasks, random));
}

GoBatch BatchOf(const Posed& posed) {
  GoBatch batch;
  batch.problem = posed.problem.get();
  batch.features = &posed.features;
  batch.window = PlaceWindow(posed.problem->num_rows(), 1 << 20, 0);
  return batch;
}

void ExpectGoParity(const Posed& posed, const std::array<bool, kTasks.size()>& tasks, std::uint64_t seed,
                    const OwnLogits* own = nullptr) {
  Weights weights = AnyGoWeights(seed);
  if (own != nullptr) PutOwnLogits(*own, weights);
  const GoLearner learner(weights, {});
  Random random(seed);
  GoBatch batch = BatchOf(posed);
  batch.own = own;
  batch.sampled.push_back(AnyStep(posed, {false, false, false}, tasks, random));
  batch.sampled.push_back(AnyStep(posed, tasks, tasks, random));
  const auto learned = learner.LogProbabilities(batch);
  for (std::size_t step = 0; step < batch.sampled.size(); ++step) {
    const auto expected = ByPolicy(weights, posed, batch.sampled[step], 0, posed.problem->num_rows());
    for (std::size_t task = 0; task < kTasks.size(); ++task) {
      EXPECT_NEAR(learned[step][task], expected[task], 1e-4 * (1 + std::fabs(expected[task])));
    }
  }
}

TEST(GoLearner, AgreesWithThePlainPolicyOnGraphsOfSeveralSegments) {
  const std::unique_ptr<Posed> posed = Long(1);
  ASSERT_GT(posed->problem->num_rows(), 7 * kSegment);
  ExpectGoParity(*posed, {true, true, true}, 1);
}

TEST(GoLearner, AgreesWithThePlainPolicyWhereAGraphHasLogitsOfItsOwn) {
  const std::unique_ptr<Posed> posed = Long(3, 300);
  OwnLogits own = NoOwnLogits(*posed->problem);
  Random random(6);
  for (std::vector<float>& table : own.of_task) {
    for (float& logit : table) logit = static_cast<float>(random.Normal());
  }
  ExpectGoParity(*posed, {true, true, true}, 5, &own);
}

TEST(GoLearner, AgreesWithThePlainPolicyWhicheverTasksAreOn) {
  const std::unique_ptr<Posed> posed = Long(2);
  ExpectGoParity(*posed, {true, false, false}, 2);
  ExpectGoParity(*posed, {false, true, false}, 3);
  ExpectGoParity(*posed, {true, false, true}, 4);
}

TEST(GoLearner, AgreesWithThePlainPolicyOnOddProblems) {
  Random random(3);
  for (int i = 0; i < 10; ++i) {
    ComputationGraph graph = testing::RandomGraph(random, {.memory = true});
    if (graph.num_ops() < 3) continue;
    const Posed posed(std::move(graph), testing::RandomMachine(random, {.memory = true}));
    ExpectGoParity(posed, {true, true, true}, static_cast<std::uint64_t>(i));
  }
}

TEST(GoLearner, AWindowCountsTheRowsOfItsSegmentsAndNothingElse) {
  const std::unique_ptr<Posed> posed = Long(4);
  const Weights weights = AnyGoWeights(4);
  const GoLearner learner(weights, {});
  Random random(4);
  GoBatch batch = BatchOf(*posed);
  batch.sampled.push_back(AnyStep(*posed, {true, true, true}, {true, true, true}, random));
  bool moved = false;
  for (const double position : {0.0, 0.5, 0.99}) {
    batch.window = PlaceWindow(posed->problem->num_rows(), kSegment, position);
    ASSERT_LE(batch.window.end - batch.window.counted, kSegment);
    moved |= batch.window.first > 0;
    const auto expected = ByPolicy(weights, *posed, batch.sampled[0], batch.window.counted, batch.window.end);
    const auto learned = learner.LogProbabilities(batch);
    for (std::size_t task = 0; task < kTasks.size(); ++task) {
      EXPECT_NEAR(learned[0][task], expected[task], 1e-4 * (1 + std::fabs(expected[task])));
    }
  }
  EXPECT_TRUE(moved);
}

TEST(GoLearner, MakesWhatDidWellLikelierAndWhatDidBadlyLessLikely) {
  const std::unique_ptr<Posed> posed = Long(5, 150);
  Random random(5);
  GoLearner learner(InitialGoWeights(random), {});
  GoBatch batch = BatchOf(*posed);
  batch.sampled.push_back(AnyStep(*posed, {true, true, true}, {true, true, true}, random));
  batch.sampled.push_back(AnyStep(*posed, {true, true, true}, {true, true, true}, random));
  batch.advantages = {1, -1};
  const auto before = learner.LogProbabilities(batch);
  for (int i = 0; i < 5; ++i) learner.Update({batch}, {.passes = 1, .learning_rate = 3e-3});
  const auto after = learner.LogProbabilities(batch);
  for (std::size_t task = 0; task < kTasks.size(); ++task) {
    EXPECT_GT(after[0][task] - after[1][task], before[0][task] - before[1][task]);
  }
}

TEST(GoLearner, LearnsDemonstrationsByHeart) {
  const std::unique_ptr<Posed> posed = Long(6, 150);
  Random random(6);
  GoLearner learner(InitialGoWeights(random), {});
  GoBatch batch = BatchOf(*posed);
  GoStep demonstration = AnyStep(*posed, {true, true, true}, {true, false, false}, random);
  std::fill(demonstration.chosen.device.begin(), demonstration.chosen.device.end(), 1);
  batch.demonstrations.push_back(demonstration);
  batch.sampled.push_back(demonstration);
  batch.advantages = {0};
  const double before = learner.LogProbabilities(batch)[0][0];
  GoUpdateResult result;
  for (int i = 0; i < 40; ++i) {
    result = learner.Update({batch}, {.passes = 1, .demonstration_weight = 1, .learning_rate = 1e-2});
  }
  EXPECT_GT(learner.LogProbabilities(batch)[0][0], 0.3 * before);
  EXPECT_GT(result.demonstration_log_probability, -0.5);
}

TEST(GoLearner, GoesOnFromWhatItSavedAsIfNothingHadHappened) {
  const std::unique_ptr<Posed> posed = Long(7, 150);
  Random random(7);
  const Weights start = InitialGoWeights(random);
  GoBatch batch = BatchOf(*posed);
  batch.sampled.push_back(AnyStep(*posed, {true, true, true}, {true, true, true}, random));
  batch.advantages = {1};
  GoLearner first(start, {});
  first.Update({batch}, {});
  GoLearner second(start, {});
  second.Load(first.Save());
  first.Update({batch}, {});
  second.Update({batch}, {});
  EXPECT_EQ(first.weights(), second.weights());
  EXPECT_EQ(first.average(), second.average());
}

TEST(GoLearner, RefusesWeightsOfAnotherNetwork) {
  Random random(8);
  EXPECT_THROW(GoLearner(InitialMessagePassingWeights(random), {}), InvalidInput);
}

}  // namespace
}  // namespace millrace
