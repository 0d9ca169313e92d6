// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/batch.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "millrace/gflownet/sampling/remembered_policy.h"

namespace millrace {
namespace {

SamplerOptions Sampler(const Environment& environment, std::size_t trajectories, const BatchSettings& settings) {
  if (settings.states) return {.epsilon = settings.epsilon, .recorded_share = 1};
  const double steps = static_cast<double>(trajectories) * environment.num_groups();
  return {.epsilon = settings.epsilon,
          .recorded_share = std::min(settings.recorded_share, settings.most_recorded_steps / steps)};
}

// All of the batch but its steps and states.
void Fill(const Environment& environment, const std::vector<Trajectory>& trajectories, double temperature,
          double recorded_share, RewardForm reward, TrajectoryBatch& batch) {
  batch.graph = MakeGraphFeatures(environment);
  batch.temperature = temperature;
  batch.sampled.num_groups = environment.num_groups();
  batch.sampled.recorded_share = recorded_share;
  double sum = 0;
  double best = trajectories.front().makespan;
  for (const Trajectory& trajectory : trajectories) {
    batch.sampled.log_reward.push_back(LogReward(environment, trajectory.makespan, temperature, reward));
    batch.sampled.log_forward.push_back(trajectory.log_forward);
    batch.sampled.log_backward.push_back(trajectory.log_backward);
    sum += trajectory.makespan;
    best = std::min(best, trajectory.makespan);
  }
  const double reference = environment.reference_makespan();
  batch.mean_ratio = sum > 0 ? reference * static_cast<double>(trajectories.size()) / sum : 1;
  batch.best_ratio = best > 0 ? reference / best : 1;
}

}  // namespace

std::vector<Trajectory> SampleBatch(const Environment& environment, const PreparedPolicy& policy, double temperature,
                                    const BatchSettings& settings, const Random& random, TrajectoryBatch& batch) {
  const SamplerOptions sampler = Sampler(environment, static_cast<std::size_t>(settings.trajectories), settings);
  // Encoding a state is dear, and trajectories share their first ones.
  const std::unique_ptr<PreparedPolicy> remembering = settings.states ? Remembering(policy) : nullptr;
  std::vector<Trajectory> trajectories = SampleTrajectories(environment, remembering ? *remembering : policy,
                                                            settings.trajectories, sampler, random, &batch.steps);
  Fill(environment, trajectories, temperature, sampler.recorded_share, settings.reward, batch);
  if (settings.states) {
    std::vector<std::vector<Action>> actions;
    actions.reserve(trajectories.size());
    for (const Trajectory& trajectory : trajectories) actions.push_back(trajectory.actions);
    batch.states = RecordStates(environment, actions, settings.removals);
  }
  return trajectories;
}

void MakeDemonstrationBatch(const Environment& environment, const PreparedPolicy& policy, double temperature,
                            const std::vector<std::vector<Action>>& actions, const BatchSettings& settings,
                            const Random& random, TrajectoryBatch& batch) {
  const SamplerOptions sampler = Sampler(environment, actions.size(), settings);
  Fill(environment, RescoreTrajectories(environment, policy, actions, sampler, random, &batch.steps), temperature,
       sampler.recorded_share, settings.reward, batch);
  if (settings.states) batch.states = RecordStates(environment, actions, settings.removals);
  batch.demonstration = true;
}

}  // namespace millrace
