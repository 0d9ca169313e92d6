// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/step_batch.h"

namespace millrace {
namespace {

template <typename Number>
void Extend(std::vector<Number>& numbers, const std::vector<Number>& more) {
  numbers.insert(numbers.end(), more.begin(), more.end());
}

}  // namespace

void ChoiceBatch::Clear() {
  trajectory.clear();
  offsets.assign(1, 0);
  chosen.clear();
  group.clear();
  device.clear();
  features.clear();
  priors.clear();
  outlook.clear();
  log_probability.clear();
}

void ChoiceBatch::Append(std::int32_t trajectory_index, std::int32_t for_group, const Observation& observation,
                         std::size_t taken, float taken_log_probability) {
  trajectory.push_back(trajectory_index);
  chosen.push_back(static_cast<std::int32_t>(group.size() + taken));
  for (const std::int32_t choice : observation.choices) {
    group.push_back(for_group >= 0 ? for_group : choice);
    device.push_back(for_group >= 0 ? choice : -1);
  }
  Extend(features, observation.features);
  Extend(priors, observation.priors);
  Extend(outlook, observation.outlook);
  log_probability.push_back(taken_log_probability);
  offsets.push_back(static_cast<std::int32_t>(group.size()));
}

void ChoiceBatch::Append(const ChoiceBatch& other) {
  const auto shift = static_cast<std::int32_t>(group.size());
  Extend(trajectory, other.trajectory);
  for (const std::int32_t taken : other.chosen) chosen.push_back(taken + shift);
  for (std::size_t s = 1; s < other.offsets.size(); ++s) offsets.push_back(other.offsets[s] + shift);
  Extend(group, other.group);
  Extend(device, other.device);
  Extend(features, other.features);
  Extend(priors, other.priors);
  Extend(outlook, other.outlook);
  Extend(log_probability, other.log_probability);
}

}  // namespace millrace
