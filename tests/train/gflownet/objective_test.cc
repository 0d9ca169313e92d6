// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/environment/reward.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/train/gflownet/learner.h"
#include "millrace/train/gflownet/problems.h"

namespace millrace {
namespace {

constexpr double kTemperature = 0.3;

Weights SoftWeights(std::uint64_t seed) {
  Random random(seed);
  Weights weights = InitialMessagePassingWeights(random);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.1 * random.Normal());
    if (name.ends_with("strength.bias")) {
      for (float& value : tensor.values) value -= 2;  // else one choice has all the probability
    }
  }
  return weights;
}

// Fixed trajectories of one small problem, every step recorded.
struct Fixture {
  std::unique_ptr<Problem> problem;
  GraphFeatures graph;
  StepBatch steps;
  std::vector<std::vector<Action>> actions;
  SampledTrajectories sampled;

  Fixture(const Weights& weights, int count) {
    const ProblemSource source({.fewest_ops = 8, .most_ops = 8, .unlike_share = 1});
    Random random(5);
    problem = source.Draw(random);
    const Environment& environment = problem->environment();
    graph = MakeGraphFeatures(environment);
    sampled.drawn_steps = environment.num_groups();
    sampled.steps = &steps;
    const auto policy = MakeMessagePassingPolicy(weights)->Prepare(environment, kTemperature);
    SamplerOptions all;
    all.recorded_share = 1;
    for (const Trajectory& trajectory : SampleTrajectories(environment, *policy, count, all, Random(2), &steps)) {
      actions.push_back(trajectory.actions);
      sampled.log_reward.push_back(LogReward(environment, trajectory.makespan, kTemperature));
      sampled.log_backward.push_back(trajectory.log_backward);
      sampled.log_forward.push_back(trajectory.log_forward);
    }
  }

  // The same trajectories under other weights.
  SampledTrajectories Under(const Weights& weights) const {
    const Environment& environment = problem->environment();
    const auto policy = MakeMessagePassingPolicy(weights)->Prepare(environment, kTemperature);
    SampledTrajectories other = sampled;
    const auto rescored = RescoreTrajectories(environment, *policy, actions, {}, Random(1), nullptr);
    for (std::size_t i = 0; i < rescored.size(); ++i) other.log_forward[i] = rescored[i].log_forward;
    return other;
  }
};

// The gradient by tensor, out of the first moment of an optimiser that has made one step.
std::map<std::string, std::vector<double>> GradientOf(const Weights& weights, const Fixture& fixture,
                                                      const Objective& objective) {
  GFlowNetLearner learner(weights, {.gradient_limit = 0});
  const std::vector<Predicted> predicted =
      learner.Predict({{.graph = &fixture.graph, .temperature = kTemperature, .steps = &fixture.steps}});
  learner.Follow({objective.Differentiate(fixture.sampled, predicted[0], 0)});
  learner.Descend(1, 0);
  const Weights saved = learner.Save();
  const std::vector<float>& moment = saved.tensors.at("first_moment").values;
  std::map<std::string, std::vector<double>> gradient;
  std::size_t at = 0;
  for (const auto& [name, shape] : MessagePassingShapes(false)) {
    for (std::size_t i = 0; i < weights.tensors.at(name).values.size(); ++i) {
      gradient[name].push_back(moment[at++] / 0.1);
    }
  }
  return gradient;
}

TEST(Normalise, TakesTheMeanAwayAndDividesByTheStandardDeviation) {
  const std::vector<double> values = {10, 12, 14, 20};  // mean 14, variance (16 + 4 + 0 + 36) / 4
  const std::vector<double> normalised = Normalise(values, 3);
  const double deviation = std::sqrt(14.0);
  ASSERT_EQ(normalised.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(normalised[i], (values[i] - 14) / deviation, 1e-12);
}

TEST(Normalise, DoesNotSeeWhatIsAddedToAllNorAPositiveFactor) {
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> values(2 + random.Below(20));
    for (double& value : values) value = random.Normal();
    std::vector<double> moved = values;
    for (double& value : moved) value = 1000 + 7 * value;
    const std::vector<double> a = Normalise(values, 10), b = Normalise(moved, 10);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], 1e-9);
      sum += a[i];
      squares += a[i] * a[i];
    }
    EXPECT_NEAR(sum, 0, 1e-9);
    EXPECT_NEAR(squares, static_cast<double>(a.size()), 1e-9);
  }
}

TEST(Normalise, CutsOffAtTheLimitEitherWayAndSaysNothingOfEqualValues) {
  std::vector<double> values(101, 0.0);
  values[7] = 1e6;
  EXPECT_EQ(Normalise(values, 3)[7], 3);
  values[7] = -1e6;
  EXPECT_EQ(Normalise(values, 3)[7], -3);
  EXPECT_EQ(Normalise({0.1 + 0.2, 0.3, 0.3}, 3), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(Normalise({1, 3, 1, 3}, 3, 4), (std::vector<double>{-0.25, 0.25, -0.25, 0.25}));
  EXPECT_EQ(Normalise({1, 3, 1, 3}, 3, 0.5), (std::vector<double>{-1, 1, -1, 1}));
}

// Along its own gradient, each tensor changes the objective by the gradient's size.
TEST(Objective, TheGradientOfLogPartitionVarianceIsThatOfItsValueByEveryTensor) {
  const Weights weights = SoftWeights(3);
  const Fixture fixture(weights, 6);
  const auto objective = MakeLogPartitionVariance({.weight_limit = 0});
  const auto value = [&](const Weights& at) { return objective->Differentiate(fixture.Under(at), {}, 0).loss; };
  int checked = 0;
  for (const auto& [name, gradient] : GradientOf(weights, fixture, *objective)) {
    double norm = 0;
    for (const double entry : gradient) norm += entry * entry;
    norm = std::sqrt(norm);
    if (norm < 1) continue;    // too little to be seen in single precision
    const double step = 5e-4;  // small, or it crosses kinks of relu
    Weights ahead = weights, behind = weights;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      ahead.tensors[name].values[i] += static_cast<float>(step * gradient[i] / norm);
      behind.tensors[name].values[i] -= static_cast<float>(step * gradient[i] / norm);
    }
    EXPECT_NEAR((value(ahead) - value(behind)) / (2 * step), norm, 0.02 * norm) << name;
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(Objective, ARecordedShareOfTheStepsGivesTheWholeGradientOnAverage) {
  const Weights weights = SoftWeights(4);
  const Fixture fixture(weights, 8);
  const auto objective = MakeLogPartitionVariance({});
  const auto sum = [](const Derivative& derivative) {
    double total = 0;
    for (const float value : derivative.groups) total += std::abs(value);
    return total;
  };
  const double whole = sum(objective->Differentiate(fixture.sampled, {}, 0));
  const auto policy = MakeMessagePassingPolicy(weights)->Prepare(fixture.problem->environment(), kTemperature);
  double mean = 0;
  constexpr int kDraws = 400;
  for (int draw = 0; draw < kDraws; ++draw) {
    StepBatch some;
    SamplerOptions options;
    options.recorded_share = 0.25;
    RescoreTrajectories(fixture.problem->environment(), *policy, fixture.actions, options,
                        Random(static_cast<std::uint64_t>(draw)), &some);
    SampledTrajectories sampled = fixture.sampled;
    sampled.steps = &some;
    sampled.recorded_share = 0.25;
    mean += sum(objective->Differentiate(sampled, {}, 0)) / kDraws;
  }
  EXPECT_NEAR(mean, whole, 0.06 * whole);
}

TEST(Objective, TrajectoryBalanceAgreesWithItsDifferenceQuotients) {
  const Fixture fixture(SoftWeights(5), 5);
  const auto objective = MakeTrajectoryBalance({.weight_limit = 0});
  Predicted predicted;
  predicted.log_partition = 3;
  const Derivative derivative = objective->Differentiate(fixture.sampled, predicted, 0);
  const double step = 1e-4;
  const auto loss = [&](int trajectory, double change, double log_partition) {
    SampledTrajectories sampled = fixture.sampled;
    if (trajectory >= 0) sampled.log_forward[static_cast<std::size_t>(trajectory)] += change;
    Predicted other;
    other.log_partition = log_partition;
    return objective->Differentiate(sampled, other, 0).loss;
  };
  EXPECT_NEAR(derivative.log_partition, (loss(-1, 0, 3 + step) - loss(-1, 0, 3 - step)) / (2 * step), 1e-3);
  for (std::size_t s = 0; s < fixture.steps.groups.steps(); ++s) {
    const int trajectory = fixture.steps.groups.trajectory[s];
    const double slope = (loss(trajectory, step, 3) - loss(trajectory, -step, 3)) / (2 * step);
    EXPECT_NEAR(derivative.groups[s], slope, 1e-3 * (1 + std::abs(slope)));
  }
}

TEST(Objective, PpoAgreesWithItsDifferenceQuotientsAndStopsWhereTheRatioIsClipped) {
  const Fixture fixture(SoftWeights(6), 6);
  const auto objective = MakePpo({.entropy_bonus = 0});
  Random random(1);
  Predicted predicted;
  for (const float value : fixture.steps.groups.log_probability) {
    predicted.groups.push_back(value + static_cast<float>(random.Uniform(-0.4, 0.4)));
  }
  predicted.devices = fixture.steps.devices.log_probability;
  const Derivative derivative = objective->Differentiate(fixture.sampled, predicted, 0);
  int clipped = 0;
  for (std::size_t s = 0; s < predicted.groups.size(); ++s) {
    const float step = 1e-3f;
    Predicted ahead = predicted, behind = predicted;
    ahead.groups[s] += step;
    behind.groups[s] -= step;
    const double slope = (objective->Differentiate(fixture.sampled, ahead, 0).loss -
                          objective->Differentiate(fixture.sampled, behind, 0).loss) /
                         (2 * static_cast<double>(step));
    const double ratio = std::exp(predicted.groups[s] - fixture.steps.groups.log_probability[s]);
    if (std::abs(ratio - 1.2) < 0.01 || std::abs(ratio - 0.8) < 0.01) continue;  // where the slope jumps
    EXPECT_NEAR(derivative.groups[s], slope, 2e-4);
    clipped += derivative.groups[s] == 0 ? 1 : 0;
  }
  EXPECT_GT(clipped, 0);
  EXPECT_LT(clipped, static_cast<int>(predicted.groups.size()));
}

TEST(Objective, EqualTrajectoriesLeaveEveryObjectiveAtRest) {
  SampledTrajectories sampled;
  StepBatch steps;
  sampled.drawn_steps = 1;
  sampled.steps = &steps;
  sampled.log_reward = sampled.log_forward = sampled.log_backward = {-1, -1, -1};
  steps.groups.trajectory = {0, 1, 2};
  steps.groups.chosen = {0, 1, 2};
  steps.groups.log_probability = {-1, -1, -1};
  Predicted predicted;
  predicted.groups = {-1, -1, -1};
  predicted.log_partition = -1;  // log R + log P_B - log P_F of all three
  for (const std::string& name : ObjectiveNames()) {
    const Derivative derivative = MakeObjective(name, {})->Differentiate(sampled, predicted, 0);
    EXPECT_THAT(derivative.groups, ::testing::Each(0.0f)) << name;
    EXPECT_EQ(derivative.log_partition, 0) << name;
  }
}

TEST(Objective, AnUnknownNameIsRefusedWithThoseThereAre) {
  try {
    MakeObjective("reinforce", {});
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("ppo"));
  }
}

}  // namespace
}  // namespace millrace
