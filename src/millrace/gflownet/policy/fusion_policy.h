// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/gflownet/environment/merge_observation.h"

// The forward policy P_F of the fusion choices. It accepts an offered merge with probability 1 / (1 + exp(-logit)).
namespace millrace {

// Immutable, so threads may share it.
class FusionPolicy {
 public:
  virtual ~FusionPolicy() = default;

  virtual std::string name() const = 0;

  // The logit of the described offer, finite. The reward temperature is > 0.
  virtual double Logit(const MergeObservation& observation, double temperature) const = 0;
};

// Accepts every merge with probability 1/2.
std::unique_ptr<FusionPolicy> MakeUniformFusionPolicy();

// The logit is MergeObservation::saved times `strength`. Throws InvalidInput unless the strength is finite.
std::unique_ptr<FusionPolicy> MakeSavingFusionPolicy(double strength);

}  // namespace millrace
