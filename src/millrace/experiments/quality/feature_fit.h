// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "millrace/gflownet/environment/environment.h"

// How close to R / Z a policy can come that embeds the graph once: in a state it sees of a choice the group, the kind
// of device and the numbers of Observation, and no more. Where two states show the same and ask for different answers,
// no weights help. The table with one free logit for everything that can be seen has all freedom there is.
namespace millrace {

struct FeatureFitOptions {
  int updates = 300;    // of each of the two descents
  double alike = 1e-4;  // numbers that differ by less are the same to the table
  std::int64_t most_states = 200'000;
};

struct FeatureFit {
  double total_variation = 1;  // the least that was found
  int logits = 0;              // free numbers
};

// Fits the table to one problem at one reward temperature, with exact gradients over all states: first of
// KL(R / Z || P), then of the total variation itself, smoothed. A local optimum: the least there is may be lower still.
// Throws InvalidInput where there are more than `most_states` states.
FeatureFit FitFeatures(const Environment& environment, double temperature, const FeatureFitOptions& options = {});

}  // namespace millrace
