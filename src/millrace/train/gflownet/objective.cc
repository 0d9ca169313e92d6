// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/objective.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

struct NamedObjective {
  std::string_view name;
  std::unique_ptr<Objective> (*make)(const ObjectiveSettings&);
};

constexpr NamedObjective kObjectives[] = {{"log_partition_variance", MakeLogPartitionVariance},
                                          {"trajectory_balance", MakeTrajectoryBalance},
                                          {"ppo", MakePpo},
                                          {"exact_flow", MakeExactFlowDivergence}};

std::vector<float> Spread(const ChoiceBatch& batch, const std::vector<double>& by_trajectory, double share) {
  std::vector<float> out(batch.steps());
  for (std::size_t step = 0; step < out.size(); ++step) {
    out[step] = static_cast<float>(by_trajectory[static_cast<std::size_t>(batch.trajectory[step])] / share);
  }
  return out;
}

}  // namespace

SettingsTable TableOf(ObjectiveSettings& s) {
  return {
      {"weight_limit", &s.weight_limit, Between(0, 1e9),
       "most that a trajectory's normalised weight may be, either way; 0: not normalised and no limit"},
      {"least_deviation", &s.least_deviation, Between(0, 1e9),
       "nats by which log_partition_variance divides where trajectories differ by less: those that hardly differ say "
       "little then"},
      {"ratio_limit", &s.ratio_limit, Between(1e-6, 1), "ppo: how far a step's probability may move"},
      {"passes", &s.passes, Between(1, 1000), "ppo: gradient steps over the same trajectories"},
      {"entropy_bonus", &s.entropy_bonus, Between(0, 1e6), "ppo: bonus for entropy at the start; it falls linearly"},
      {"last_entropy_bonus", &s.last_entropy_bonus, Between(0, 1e6), "ppo: bonus for entropy at the end"}};
}

void CheckSettings(const ObjectiveSettings& settings) { CheckRowsOf(settings); }

std::vector<std::string> ObjectiveNames() {
  std::vector<std::string> names;
  for (const NamedObjective& objective : kObjectives) names.emplace_back(objective.name);
  return names;
}

std::unique_ptr<Objective> MakeObjective(std::string_view name, const ObjectiveSettings& settings) {
  CheckSettings(settings);
  for (const NamedObjective& objective : kObjectives) {
    if (objective.name == name) return objective.make(settings);
  }
  throw InvalidInput(fmt::format("objective: '{}' is none; there are {}", name, fmt::join(ObjectiveNames(), ", ")));
}

Derivative SpreadOverSteps(const SampledTrajectories& sampled, const std::vector<double>& by_trajectory) {
  Derivative derivative;
  derivative.groups = Spread(sampled.steps->groups, by_trajectory, sampled.recorded_share);
  derivative.devices = Spread(sampled.steps->devices, by_trajectory, sampled.recorded_share);
  return derivative;
}

void SpreadOverRemovals(const SampledTrajectories& sampled, const Predicted& predicted,
                        const std::vector<double>& by_trajectory, Derivative& derivative) {
  if (predicted.removals.empty()) return;
  derivative.removals = Spread(sampled.steps->groups, by_trajectory, sampled.recorded_share);
  for (float& value : derivative.removals) value = -value;
}

std::vector<double> Normalise(const std::vector<double>& values, double limit, double least) {
  const double count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / count;
  const double deviation = std::sqrt(variance);
  std::vector<double> out(values.size(), 0);
  // Equal values differ by rounding alone, which is no signal.
  if (deviation <= 1e-9 * (1 + std::abs(mean))) return out;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = std::clamp((values[i] - mean) / std::max(deviation, least), -limit, limit);
  return out;
}

}  // namespace millrace
