// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/exact_distribution.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/environment/observer.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/gflownet/environment/state_key.h"

namespace millrace {
namespace {

struct Visited {
  State state;
  double probability = 0;
};

using Layer = std::map<StateKey, Visited>;

std::vector<double> Probabilities(std::span<const float> logits) {
  const float most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> probabilities;
  double sum = 0;
  for (const float logit : logits) {
    probabilities.push_back(std::exp(static_cast<double>(logit) - static_cast<double>(most)));
    sum += probabilities.back();
  }
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

void Arrive(const Visited& from, Action action, double probability, Layer& next) {
  State state = from.state;
  state.Append(action);
  StateKey key = KeyOf(state);
  const auto found = next.find(key);
  if (found != next.end()) {
    found->second.probability += probability;
  } else {
    next.emplace(std::move(key), Visited{std::move(state), probability});
  }
}

void Leave(const Visited& from, Observer& observer, PreparedPolicy& policy, Layer& next) {
  Observation groups, devices;
  observer.See(from.state);
  observer.Groups(groups);
  std::vector<float> logits(groups.size());
  policy.ScoreGroups(from.state, groups, logits);
  const std::vector<double> of_group = Probabilities(logits);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::int32_t group = groups.choices[i];
    observer.Devices(group, devices);
    logits.resize(devices.size());
    policy.ScoreDevices(from.state, group, devices, logits);
    const std::vector<double> of_device = Probabilities(logits);
    for (std::size_t j = 0; j < devices.size(); ++j)
      Arrive(from, {group, devices.choices[j]}, from.probability * of_group[i] * of_device[j], next);
  }
}

}  // namespace

ExactDistribution MakeExactDistribution(const Environment& environment, const PreparedPolicy& policy,
                                        std::int64_t most_states) {
  const std::unique_ptr<PreparedPolicy> own = policy.Clone();
  Observer observer(environment, own->LooksAhead());
  ExactDistribution distribution;
  distribution.states = 1;
  Layer layer;
  State empty(environment);
  StateKey key = KeyOf(empty);
  layer.emplace(std::move(key), Visited{std::move(empty), 1.0});
  for (int step = 0; step < environment.num_groups(); ++step) {
    Layer next;
    for (const auto& entry : layer) {
      StopIfInterrupted();
      Leave(entry.second, observer, *own, next);
      if (distribution.states + static_cast<std::int64_t>(next.size()) > most_states)
        throw InvalidInput("too many ways to build a plan of " + std::to_string(environment.num_groups()) +
                           " groups on " + std::to_string(environment.num_devices()) +
                           " devices to visit them all: over " + std::to_string(most_states) + " states");
    }
    distribution.states += static_cast<std::int64_t>(next.size());
    layer = std::move(next);
  }
  for (const auto& entry : layer) {
    const Visited& visited = entry.second;
    distribution.plans.push_back({visited.state.assignment(), visited.state.makespan(), visited.probability});
  }
  return distribution;
}

RewardFit FitToReward(const Environment& environment, const ExactDistribution& distribution, double temperature,
                      RewardForm form) {
  std::vector<double> probabilities, log_rewards;
  probabilities.reserve(distribution.plans.size());
  log_rewards.reserve(distribution.plans.size());
  for (const ExactPlan& plan : distribution.plans) {
    probabilities.push_back(plan.probability);
    log_rewards.push_back(LogReward(environment, plan.makespan, temperature, form));
  }
  return FitToLogRewards(probabilities, log_rewards);
}

RewardFit FitToLogRewards(std::span<const double> probabilities, std::span<const double> log_rewards) {
  const double most = *std::max_element(log_rewards.begin(), log_rewards.end());
  double sum = 0;
  for (const double log_reward : log_rewards) sum += std::exp(log_reward - most);
  RewardFit fit;
  fit.log_partition = most + std::log(sum);
  for (std::size_t i = 0; i < log_rewards.size(); ++i) {
    const double log_wanted = log_rewards[i] - fit.log_partition;
    const double wanted = std::exp(log_wanted);
    const double probability = probabilities[i];
    fit.total_variation += std::fabs(probability - wanted) / 2;
    if (probability > 0) fit.divergence += probability * (std::log(probability) - log_wanted);
    if (wanted > 0) fit.mean_log_ratio += wanted * (std::log(probability) - log_wanted);
  }
  return fit;
}

}  // namespace millrace
