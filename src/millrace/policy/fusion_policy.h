// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/env/merge_observation.h"

// The forward policy P_F of the fusion choices: an offered merge is accepted with probability 1 / (1 + exp(-logit)).
namespace millrace {

// Immutable and shared between threads.
class FusionPolicy {
 public:
  virtual ~FusionPolicy() = default;

  virtual std::string name() const = 0;

  // Finite, of the offer described, at a reward temperature > 0.
  virtual double Logit(const MergeObservation& observation, double temperature) const = 0;
};

// The stand-in: every merge with probability 1/2.
std::unique_ptr<FusionPolicy> MakeUniformFusionPolicy();

// What a merge saves on its union's fastest device, in seconds of the mean op, times `strength`. Throws InvalidInput
// unless that is finite.
std::unique_ptr<FusionPolicy> MakeSavingFusionPolicy(double strength);

}  // namespace millrace
