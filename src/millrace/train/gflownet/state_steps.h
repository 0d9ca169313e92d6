// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/environment/graph_features.h"

// The states along given trajectories of one problem as flat arrays: what the gradient of a network that reads the
// whole state at every step (gflownet/policy/topoformer.h, "state") needs. A state that several steps are made in is
// there once. Index types are libtorch's. Steps are those of the first trajectory, then those of the second, and so on.
// In the shapes below, `groups` and `devices` are the problem's numbers of them.
namespace millrace {

struct StateSteps {
  std::int64_t states = 0;
  std::vector<std::int64_t> relations;  // groups x groups: GroupRelations
  std::vector<float> edges;             // groups x groups: the feature of the edge between them; 0: none

  std::vector<float> group_features;    // states x groups x kStateGroupFeatures
  std::vector<float> device_features;   // states x devices x (kDeviceFeatures + kStateDeviceFeatures)
  std::vector<std::int64_t> placement;  // states x groups; `devices` where not placed
  std::vector<std::int64_t> linked;     // state x groups + i, for every i right behind another on a chain,
  std::vector<std::int64_t> linked_to;  // and state x groups + that one

  // Ready groups, state by state.
  std::vector<std::int64_t> ready_state;
  std::vector<float> ready_priors;        // by ready group x kGroupPriors
  std::vector<std::int64_t> taken_ready;  // by step: which of them was taken

  // Choices of a device, for each ready group.
  std::vector<std::int64_t> choice_ready;   // index into the ready groups
  std::vector<std::int64_t> choice_group;   // state x groups + group
  std::vector<std::int64_t> choice_device;  // state x devices + device
  std::vector<float> choice_features;       // by choice x kDeviceChoiceFeatures
  std::vector<float> choice_priors;         // by choice x kDeviceChoicePriors
  std::vector<float> choice_completions;    // by choice x kCompletions
  std::vector<std::int64_t> taken_choice;   // by step

  // Removable groups, state by state, where asked for: for a learned P_B.
  std::vector<std::int64_t> removal_bin;     // number of the state among those that have any
  std::vector<std::int64_t> removal_group;   // state x groups + group
  std::vector<std::int64_t> removal_device;  // state x devices + the device it is placed on
  std::vector<std::int64_t> taken_removal;   // by step: which of them the step placed
  std::int64_t removal_bins = 0;
};

// Every action must be on offer in its state. The reward temperature is > 0 (completions.h). Finished states are
// recorded for their removals alone. Memory goes with states x groups x (groups + devices).
StateSteps RecordStates(const Environment& environment, double temperature,
                        const std::vector<std::vector<Action>>& trajectories, bool removals = false);

}  // namespace millrace
