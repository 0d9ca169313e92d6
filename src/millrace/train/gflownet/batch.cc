// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/batch.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "millrace/gflownet/sampling/remembered_policy.h"

namespace millrace {
namespace {

// `drawn` is how many steps of a trajectory the policy draws.
SamplerOptions Sampler(int drawn, std::size_t trajectories, const BatchSettings& settings) {
  if (settings.states) return {.epsilon = settings.epsilon, .recorded_share = 1};
  const double steps = static_cast<double>(trajectories) * drawn;
  return {.epsilon = settings.epsilon,
          .recorded_share = std::min(settings.recorded_share, settings.most_recorded_steps / steps)};
}

// All of the batch but its steps and states.
void Fill(const Environment& environment, const std::vector<Trajectory>& trajectories, int drawn, double temperature,
          double recorded_share, RewardForm reward, TrajectoryBatch& batch) {
  batch.graph = MakeGraphFeatures(environment);
  batch.temperature = temperature;
  batch.sampled.drawn_steps = drawn;
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
  const SamplerOptions sampler =
      Sampler(environment.num_groups(), static_cast<std::size_t>(settings.trajectories), settings);
  // Encoding a state is dear, and trajectories share their first ones.
  const std::unique_ptr<PreparedPolicy> remembering = settings.states ? Remembering(policy) : nullptr;
  std::vector<Trajectory> trajectories = SampleTrajectories(environment, remembering ? *remembering : policy,
                                                            settings.trajectories, sampler, random, &batch.steps);
  Fill(environment, trajectories, environment.num_groups(), temperature, sampler.recorded_share, settings.reward,
       batch);
  if (settings.states) {
    std::vector<std::vector<Action>> actions;
    actions.reserve(trajectories.size());
    for (const Trajectory& trajectory : trajectories) actions.push_back(trajectory.actions);
    batch.states = RecordStates(environment, temperature, actions, settings.removals);
  }
  return trajectories;
}

std::vector<Trajectory> SampleWindowBatch(const Environment& environment, const PreparedPolicy& policy,
                                          double temperature, const BatchSettings& settings, const Assignment& plan,
                                          Window window, const Random& random, TrajectoryBatch& batch) {
  const int drawn =
      static_cast<int>(std::min(window.steps, static_cast<std::size_t>(environment.num_groups()) - window.begin));
  const auto count = static_cast<std::size_t>(settings.trajectories);
  const SamplerOptions sampler = Sampler(drawn, count, settings);
  std::vector<Trajectory> trajectories =
      RedrawWindows(environment, policy, plan, std::vector<Window>(count, window), sampler, random, &batch.steps);
  Fill(environment, trajectories, drawn, temperature, sampler.recorded_share, settings.reward, batch);
  return trajectories;
}

void MakeDemonstrationBatch(const Environment& environment, const PreparedPolicy& policy, double temperature,
                            const std::vector<std::vector<Action>>& actions, const BatchSettings& settings,
                            const Random& random, TrajectoryBatch& batch) {
  const SamplerOptions sampler = Sampler(environment.num_groups(), actions.size(), settings);
  Fill(environment, RescoreTrajectories(environment, policy, actions, sampler, random, &batch.steps),
       environment.num_groups(), temperature, sampler.recorded_share, settings.reward, batch);
  if (settings.states) batch.states = RecordStates(environment, temperature, actions, settings.removals);
  batch.demonstration = true;
}

}  // namespace millrace
