// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/fused_lesson.h"

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/rollout/remembered_policy.h"

namespace millrace {

FusedLesson DrawFusedLesson(FusedSampler& sampler, const LessonSettings& settings, const Random& random) {
  FusedLesson lesson;
  lesson.ops = sampler.problem().graph().num_ops();
  const std::vector<FusedTrajectory> plans =
      sampler.Sample(settings.trajectories, {.epsilon = settings.epsilon}, random);
  std::vector<std::vector<char>> answers;
  std::map<FusionGroups, std::vector<std::size_t>> by_groups;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    answers.push_back(plans[i].answers);
    by_groups[plans[i].groups].push_back(i);
    lesson.zeta.push_back(sampler.LogReward(plans[i]) + plans[i].log_backward() - plans[i].log_forward());
  }
  lesson.merges = RecordMerges(sampler.problem(), sampler.temperature(), answers);
  for (auto& [groups, members] : by_groups) {
    const auto fused = sampler.environments().For(groups);
    std::vector<std::vector<Action>> actions;
    actions.reserve(members.size());
    for (const std::size_t plan : members) actions.push_back(plans[plan].placing.actions);
    const std::unique_ptr<PreparedPolicy> policy = sampler.Prepare(fused->environment);
    ExampleLesson(fused->environment, *Remembering(*policy), sampler.PlacingTemperature(fused->environment), actions,
                  settings, random, lesson.placings.emplace_back());
    lesson.members.push_back(std::move(members));
  }
  return lesson;
}

double TeachFused(const std::vector<FusedLesson>& lessons, double weight_limit, const FusedRates& rates,
                  FusionLearner& fusing, Learner& placing) {
  const auto share = 1 / static_cast<double>(lessons.size());
  double loss = 0;
  std::vector<MergeSteps> merges;
  std::vector<std::vector<double>> by_plan;
  std::vector<Replay> replays;
  merges.reserve(lessons.size());
  by_plan.reserve(lessons.size());
  for (const FusedLesson& lesson : lessons) {
    PartitionVariance variance = VarianceOf(lesson.zeta, weight_limit, lesson.ops);
    loss += share * variance.loss;
    for (double& derivative : variance.by_forward) derivative *= share;
    by_plan.push_back(std::move(variance.by_forward));
    merges.push_back(lesson.merges);
    for (const Lesson& one : lesson.placings)
      replays.push_back(
          {.graph = &one.graph, .temperature = one.temperature, .steps = &one.steps, .states = &one.states});
  }
  if (!std::isfinite(loss)) throw WorkFailed("the loss is not finite");
  const std::vector<Predicted> predicted = placing.Predict(replays);
  std::vector<Derivative> derivatives;
  derivatives.reserve(replays.size());
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    for (std::size_t k = 0; k < lessons[i].placings.size(); ++k) {
      std::vector<double> by_trajectory;
      for (const std::size_t plan : lessons[i].members[k]) by_trajectory.push_back(by_plan[i][plan]);
      Drawn drawn = lessons[i].placings[k].drawn;
      drawn.steps = &lessons[i].placings[k].steps;
      Derivative derivative = SpreadOverSteps(drawn, by_trajectory);
      SpreadOverRemovals(drawn, predicted[derivatives.size()], by_trajectory, derivative);
      derivatives.push_back(std::move(derivative));
    }
  }
  placing.Descend(derivatives, rates.placing);
  fusing.Predict(merges);
  fusing.Descend(by_plan, rates.fusing);
  return loss;
}

}  // namespace millrace
