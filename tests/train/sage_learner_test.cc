// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/sage_learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/one_shot_policy.h"
#include "millrace/policy/sage.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

// Weights where every part of the network counts: the initial ones keep the last layers at zero.
Weights AnyWeights(std::uint64_t seed) {
  Random random(seed);
  Weights weights = InitialSageWeights(random);
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
  std::unique_ptr<OneShotProblem> problem;
  OneShotFeatures features;

  Posed(ComputationGraph g, Machine m) : graph(std::move(g)), machine(std::move(m)) {
    model = MakeAnalyticCostModel(graph, machine);
    problem = std::make_unique<OneShotProblem>(*model);
    features = MakeOneShotFeatures(*problem);
  }
};

// Seven segments and a bit unless told otherwise, some ops tied to one device, some that may fuse.
std::unique_ptr<Posed> Long(std::uint64_t seed, std::int64_t ops = 910) {
  GraphData data = MakeRandomGraph("layered", {.ops = ops, .ccr = 2, .seed = seed}).data();
  for (std::size_t i = 0; i < data.ops.size(); ++i) {
    if (i % 7 == 0) data.ops[i].colocate = "tie" + std::to_string(i % 35);
    if (i % 3 == 0) data.ops[i].type = "Relu";
    if (i % 3 == 1) data.ops[i].type = "MatMul";
  }
  return std::make_unique<Posed>(ComputationGraph(std::move(data)),
                                 *MachinePreset("homogeneous:3,latency=0.1,bandwidth=1e9"));
}

Decisions AnyDecisions(const OneShotProblem& problem, const std::array<bool, kTasks.size()>& tasks, Random& random) {
  Decisions decisions;
  for (std::int32_t tie = 0; tie < problem.num_ties() && tasks[0]; ++tie) {
    int device = 0;
    do {
      device = static_cast<int>(random.Below(static_cast<std::uint64_t>(problem.num_devices())));
    } while (!std::isfinite(problem.Seconds(problem.RowsOf(tie).front(), device)));
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
std::array<double, kTasks.size()> ByPolicy(const Weights& weights, const Posed& posed, const OneShotStep& step,
                                           int first, int end) {
  const OneShotProblem& problem = *posed.problem;
  const PreparedOneShot prepared = OneShotPolicy(weights).Prepare(problem);
  OneShotPass pass = prepared.MakePass();
  pass.Begin(*step.before);
  Decisions known;
  std::array<double, kTasks.size()> sums{};
  if (step.chosen.Has(Task::kPlacement)) {
    const auto devices = static_cast<std::size_t>(problem.num_devices());
    const std::span<const float> logits = pass.Score(Task::kPlacement, known);
    for (std::int32_t tie = 0; tie < problem.num_ties(); ++tie) {
      if (problem.RowsOf(tie).front() < first || problem.RowsOf(tie).back() >= end) continue;
      const auto at = static_cast<std::size_t>(tie);
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

OneShotStep AnyStep(const Posed& posed, const std::array<bool, kTasks.size()>& before,
                    const std::array<bool, kTasks.size()>& tasks, Random& random) {
  auto observation = std::make_shared<DecisionObservation>();
  ObserveDecisions(*posed.problem, AnyDecisions(*posed.problem, before, random), *observation);
  return MakeOneShotStep(*posed.problem, std::move(observation), AnyDecisions(*posed.problem, tasks, random));
}

OneShotLesson LessonOf(const Posed& posed) {
  OneShotLesson lesson;
  lesson.problem = posed.problem.get();
  lesson.features = &posed.features;
  lesson.window = PlaceWindow(posed.problem->num_rows(), 1 << 20, 0);
  return lesson;
}

void ExpectParity(const Posed& posed, const std::array<bool, kTasks.size()>& tasks, std::uint64_t seed) {
  const Weights weights = AnyWeights(seed);
  const SageLearner learner(weights, {});
  Random random(seed);
  OneShotLesson lesson = LessonOf(posed);
  lesson.drawn.push_back(AnyStep(posed, {false, false, false}, tasks, random));
  lesson.drawn.push_back(AnyStep(posed, tasks, tasks, random));
  const auto learned = learner.LogProbabilities(lesson);
  for (std::size_t step = 0; step < lesson.drawn.size(); ++step) {
    const auto expected = ByPolicy(weights, posed, lesson.drawn[step], 0, posed.problem->num_rows());
    for (std::size_t task = 0; task < kTasks.size(); ++task) {
      EXPECT_NEAR(learned[step][task], expected[task], 1e-4 * (1 + std::fabs(expected[task])));
    }
  }
}

TEST(SageLearner, AgreesWithThePlainPolicyOnGraphsOfSeveralSegments) {
  const std::unique_ptr<Posed> posed = Long(1);
  ASSERT_GT(posed->problem->num_rows(), 7 * kSegment);
  ExpectParity(*posed, {true, true, true}, 1);
}

TEST(SageLearner, AgreesWithThePlainPolicyWhicheverTasksAreOn) {
  const std::unique_ptr<Posed> posed = Long(2);
  ExpectParity(*posed, {true, false, false}, 2);
  ExpectParity(*posed, {false, true, false}, 3);
  ExpectParity(*posed, {true, false, true}, 4);
}

TEST(SageLearner, AgreesWithThePlainPolicyOnOddProblems) {
  Random random(3);
  for (int i = 0; i < 10; ++i) {
    ComputationGraph graph = testing::RandomGraph(random, {.memory = true});
    if (graph.num_ops() < 3) continue;
    const Posed posed(std::move(graph), testing::RandomMachine(random, {.memory = true}));
    ExpectParity(posed, {true, true, true}, static_cast<std::uint64_t>(i));
  }
}

TEST(SageLearner, AWindowCountsTheRowsOfItsSegmentsAndNothingElse) {
  const std::unique_ptr<Posed> posed = Long(4);
  const Weights weights = AnyWeights(4);
  const SageLearner learner(weights, {});
  Random random(4);
  OneShotLesson lesson = LessonOf(*posed);
  lesson.drawn.push_back(AnyStep(*posed, {true, true, true}, {true, true, true}, random));
  bool moved = false;
  for (const double position : {0.0, 0.5, 0.99}) {
    lesson.window = PlaceWindow(posed->problem->num_rows(), kSegment, position);
    ASSERT_LE(lesson.window.end - lesson.window.counted, kSegment);
    moved |= lesson.window.first > 0;
    const auto expected = ByPolicy(weights, *posed, lesson.drawn[0], lesson.window.counted, lesson.window.end);
    const auto learned = learner.LogProbabilities(lesson);
    for (std::size_t task = 0; task < kTasks.size(); ++task) {
      EXPECT_NEAR(learned[0][task], expected[task], 1e-4 * (1 + std::fabs(expected[task])));
    }
  }
  EXPECT_TRUE(moved);
}

TEST(SageLearner, MakesWhatDidWellLikelierAndWhatDidBadlyLessLikely) {
  const std::unique_ptr<Posed> posed = Long(5, 150);
  Random random(5);
  SageLearner learner(InitialSageWeights(random), {});
  OneShotLesson lesson = LessonOf(*posed);
  lesson.drawn.push_back(AnyStep(*posed, {true, true, true}, {true, true, true}, random));
  lesson.drawn.push_back(AnyStep(*posed, {true, true, true}, {true, true, true}, random));
  lesson.advantages = {1, -1};
  const auto before = learner.LogProbabilities(lesson);
  for (int i = 0; i < 5; ++i) learner.Teach({lesson}, {.passes = 1, .learning_rate = 3e-3});
  const auto after = learner.LogProbabilities(lesson);
  for (std::size_t task = 0; task < kTasks.size(); ++task) {
    EXPECT_GT(after[0][task] - after[1][task], before[0][task] - before[1][task]);
  }
}

TEST(SageLearner, LearnsExamplesByHeart) {
  const std::unique_ptr<Posed> posed = Long(6, 150);
  Random random(6);
  SageLearner learner(InitialSageWeights(random), {});
  OneShotLesson lesson = LessonOf(*posed);
  OneShotStep example = AnyStep(*posed, {true, true, true}, {true, false, false}, random);
  std::fill(example.chosen.device.begin(), example.chosen.device.end(), 1);
  lesson.examples.push_back(example);
  lesson.drawn.push_back(example);
  lesson.advantages = {0};
  const double before = learner.LogProbabilities(lesson)[0][0];
  OneShotTaught taught;
  for (int i = 0; i < 40; ++i) {
    taught = learner.Teach({lesson}, {.passes = 1, .imitation = 1, .learning_rate = 1e-2});
  }
  EXPECT_GT(learner.LogProbabilities(lesson)[0][0], 0.3 * before);
  EXPECT_GT(taught.example_log_probability, -0.5);
}

TEST(SageLearner, GoesOnFromWhatItSavedAsIfNothingHadHappened) {
  const std::unique_ptr<Posed> posed = Long(7, 150);
  Random random(7);
  const Weights start = InitialSageWeights(random);
  OneShotLesson lesson = LessonOf(*posed);
  lesson.drawn.push_back(AnyStep(*posed, {true, true, true}, {true, true, true}, random));
  lesson.advantages = {1};
  SageLearner first(start, {});
  first.Teach({lesson}, {});
  SageLearner second(start, {});
  second.Load(first.Save());
  first.Teach({lesson}, {});
  second.Teach({lesson}, {});
  EXPECT_EQ(first.weights(), second.weights());
  EXPECT_EQ(first.average(), second.average());
}

TEST(SageLearner, RefusesWeightsOfAnotherNetwork) {
  Random random(8);
  EXPECT_THROW(SageLearner(InitialMessagePassingWeights(random), {}), InvalidInput);
}

}  // namespace
}  // namespace millrace
