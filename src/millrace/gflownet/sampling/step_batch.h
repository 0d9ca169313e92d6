// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/gflownet/environment/observation.h"

// Visited steps as flat arrays. From them a trainer computes log P_F of the same choices again, with gradients.
namespace millrace {

// The choices of one kind (groups or devices) of all recorded steps, one after the other. Step s has the choices
// [offsets[s], offsets[s + 1]).
struct ChoiceBatch {
  std::vector<std::int32_t> trajectory;  // by step
  std::vector<std::int32_t> offsets{0};  // by step, one more
  std::vector<std::int32_t> chosen;      // by step: index of the taken choice among all choices
  std::vector<std::int32_t> group;       // by choice: the chosen group, or the group that a device is chosen for
  std::vector<std::int32_t> device;      // by choice: the device; -1 for a group choice
  std::vector<float> features;           // by choice x features
  std::vector<float> priors;             // by choice x priors
  std::vector<float> outlook;            // by choice x kOutlookNumbers; empty for a policy that does not look ahead
  std::vector<float> log_probability;    // by step: of the taken choice, as the sampler computed it

  std::size_t steps() const { return chosen.size(); }
  std::size_t size() const { return group.size(); }
  void Clear();

  // Adds one step. `taken` is the index of the taken choice in the observation. `for_group` is the group whose device
  // is chosen; -1 for a group choice.
  void Append(std::int32_t trajectory_index, std::int32_t for_group, const Observation& observation, std::size_t taken,
              float taken_log_probability);
  void Append(const ChoiceBatch& other);
};

struct StepBatch {
  ChoiceBatch groups;
  ChoiceBatch devices;

  void Clear() {
    groups.Clear();
    devices.Clear();
  }
};

}  // namespace millrace
