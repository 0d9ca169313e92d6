// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/objective.h"

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
                                          {"ppo", MakePpo}};

void CheckObjectiveSettings(const ObjectiveSettings& settings) {
  if (!(settings.weight_limit >= 0)) throw InvalidInput("weight_limit: it is a number >= 0");
  if (!(settings.ratio_limit > 0 && settings.ratio_limit < 1)) {
    throw InvalidInput("ratio_limit: it is a number between 0 and 1");
  }
  if (settings.passes < 1 || settings.passes > 1000) throw InvalidInput("passes: there are 1 to 1000");
  if (!(settings.entropy_bonus >= 0 && settings.last_entropy_bonus >= 0)) {
    throw InvalidInput("entropy_bonus, last_entropy_bonus: these are numbers >= 0");
  }
}

std::vector<float> Spread(const ChoiceBatch& batch, const std::vector<double>& by_trajectory, double share) {
  std::vector<float> out(batch.steps());
  for (std::size_t step = 0; step < out.size(); ++step) {
    out[step] = static_cast<float>(by_trajectory[static_cast<std::size_t>(batch.trajectory[step])] / share);
  }
  return out;
}

}  // namespace

std::vector<std::string> ObjectiveNames() {
  std::vector<std::string> names;
  for (const NamedObjective& objective : kObjectives) names.emplace_back(objective.name);
  return names;
}

std::unique_ptr<Objective> MakeObjective(std::string_view name, const ObjectiveSettings& settings) {
  CheckObjectiveSettings(settings);
  for (const NamedObjective& objective : kObjectives) {
    if (objective.name == name) return objective.make(settings);
  }
  throw InvalidInput(fmt::format("objective: '{}' is none; there are {}", name, fmt::join(ObjectiveNames(), ", ")));
}

Derivative SpreadOverSteps(const Drawn& drawn, const std::vector<double>& by_trajectory) {
  Derivative derivative;
  derivative.groups = Spread(drawn.steps->groups, by_trajectory, drawn.recorded_share);
  derivative.devices = Spread(drawn.steps->devices, by_trajectory, drawn.recorded_share);
  return derivative;
}

void SpreadOverRemovals(const Drawn& drawn, const Predicted& predicted, const std::vector<double>& by_trajectory,
                        Derivative& derivative) {
  if (predicted.removals.empty()) return;
  derivative.removals = Spread(drawn.steps->groups, by_trajectory, drawn.recorded_share);
  for (float& value : derivative.removals) value = -value;
}

std::vector<double> Normalise(const std::vector<double>& values, double limit) {
  const double count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / count;
  const double deviation = std::sqrt(variance);
  std::vector<double> out(values.size(), 0);
  // Equal values differ by rounding alone, which is no signal.
  if (deviation <= 1e-9 * (1 + std::abs(mean))) return out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::clamp((values[i] - mean) / deviation, -limit, limit);
  return out;
}

}  // namespace millrace
