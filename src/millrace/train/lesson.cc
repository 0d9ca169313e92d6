// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/lesson.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "millrace/env/reward.h"
#include "millrace/errors/errors.h"
#include "millrace/rollout/remembered_policy.h"

namespace millrace {
namespace {

SamplerOptions Sampler(const Environment& environment, std::size_t trajectories, const LessonSettings& settings) {
  if (settings.states) return {.epsilon = settings.epsilon, .recorded_share = 1};
  const double steps = static_cast<double>(trajectories) * environment.num_groups();
  return {.epsilon = settings.epsilon,
          .recorded_share = std::min(settings.recorded_share, settings.most_recorded_steps / steps)};
}

void Fill(const Environment& environment, const std::vector<Trajectory>& trajectories, double temperature,
          double recorded_share, Lesson& lesson) {
  lesson.graph = MakeGraphFeatures(environment);
  lesson.temperature = temperature;
  lesson.drawn.num_groups = environment.num_groups();
  lesson.drawn.recorded_share = recorded_share;
  double sum = 0;
  double best = trajectories.front().makespan;
  for (const Trajectory& trajectory : trajectories) {
    lesson.drawn.log_reward.push_back(LogReward(environment, trajectory.makespan, temperature));
    lesson.drawn.log_forward.push_back(trajectory.log_forward);
    lesson.drawn.log_backward.push_back(trajectory.log_backward);
    sum += trajectory.makespan;
    best = std::min(best, trajectory.makespan);
  }
  const double reference = environment.reference_makespan();
  lesson.mean_ratio = sum > 0 ? reference * static_cast<double>(trajectories.size()) / sum : 1;
  lesson.best_ratio = best > 0 ? reference / best : 1;
}

// Maximum likelihood of the recorded choices.
Derivative Imitate(const Drawn& drawn, const Predicted& predicted, double weight, double& log_probability) {
  const std::size_t count = drawn.log_reward.size();
  double sum = 0;
  for (const float value : predicted.groups) sum += value;
  for (const float value : predicted.devices) sum += value;
  log_probability = sum / static_cast<double>(std::max<std::size_t>(1, predicted.groups.size()));
  Derivative derivative =
      SpreadOverSteps(drawn, std::vector<double>(count, -weight / (static_cast<double>(count) * drawn.num_groups)));
  derivative.removals.assign(predicted.removals.size(), 0);  // an example says nothing of P_B
  return derivative;
}

void Scale(double share, Derivative& derivative) {
  for (float& value : derivative.groups) value *= static_cast<float>(share);
  for (float& value : derivative.devices) value *= static_cast<float>(share);
  for (float& value : derivative.removals) value *= static_cast<float>(share);
  derivative.log_partition *= share;
  derivative.entropy *= share;
}

}  // namespace

std::vector<Trajectory> DrawLesson(const Environment& environment, const PreparedPolicy& policy, double temperature,
                                   const LessonSettings& settings, const Random& random, Lesson& lesson) {
  const SamplerOptions sampler = Sampler(environment, static_cast<std::size_t>(settings.trajectories), settings);
  // Encoding a state is dear, and trajectories share their first ones.
  const std::unique_ptr<PreparedPolicy> remembering = settings.states ? Remembering(policy) : nullptr;
  std::vector<Trajectory> trajectories = SampleTrajectories(environment, remembering ? *remembering : policy,
                                                            settings.trajectories, sampler, random, &lesson.steps);
  Fill(environment, trajectories, temperature, sampler.recorded_share, lesson);
  if (settings.states) {
    std::vector<std::vector<Action>> actions;
    actions.reserve(trajectories.size());
    for (const Trajectory& trajectory : trajectories) actions.push_back(trajectory.actions);
    lesson.states = RecordStates(environment, actions, settings.removals);
  }
  return trajectories;
}

void ExampleLesson(const Environment& environment, const PreparedPolicy& policy, double temperature,
                   const std::vector<std::vector<Action>>& actions, const LessonSettings& settings,
                   const Random& random, Lesson& lesson) {
  const SamplerOptions sampler = Sampler(environment, actions.size(), settings);
  Fill(environment, ReplayTrajectories(environment, policy, actions, sampler, random, &lesson.steps), temperature,
       sampler.recorded_share, lesson);
  if (settings.states) lesson.states = RecordStates(environment, actions, settings.removals);
  lesson.example = true;
}

Taught Teach(const std::vector<Lesson>& lessons, const Objective& objective, double example_weight,
             double learning_rate, double progress, Learner& learner) {
  std::vector<Replay> replays;
  std::vector<Drawn> drawn;
  double own = 0;
  double examples = 0;
  for (const Lesson& lesson : lessons) {
    replays.push_back(
        {.graph = &lesson.graph, .temperature = lesson.temperature, .steps = &lesson.steps, .states = &lesson.states});
    drawn.push_back(lesson.drawn);
    drawn.back().steps = &lesson.steps;
    (lesson.example ? examples : own) += 1;
  }
  Taught taught;
  for (int pass = 0; pass < objective.passes(); ++pass) {
    const std::vector<Predicted> predicted = learner.Predict(replays);
    std::vector<Derivative> derivatives;
    taught.loss = 0;
    for (std::size_t i = 0; i < lessons.size(); ++i) {
      if (lessons[i].example) {
        derivatives.push_back(
            Imitate(drawn[i], predicted[i], example_weight / examples, taught.example_log_probability));
        continue;
      }
      derivatives.push_back(objective.Differentiate(drawn[i], predicted[i], progress));
      taught.loss += derivatives.back().loss / own;
      Scale(1 / own, derivatives.back());
    }
    if (!std::isfinite(taught.loss)) throw WorkFailed("the loss is not finite");
    taught.gradient_norm = learner.Descend(derivatives, learning_rate);
  }
  return taught;
}

}  // namespace millrace
