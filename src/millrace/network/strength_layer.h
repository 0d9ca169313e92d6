// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/network/sizes.h"
#include "millrace/network/weights.h"
#include "millrace/vector/lanes.h"

// How much a policy trusts what heuristics say of its choices.
namespace millrace {

// exp(clamp(NAME.strength c, -8, 8)): how much each heuristic prior counts.
class StrengthLayer {
 public:
  StrengthLayer(const Weights& weights, const std::string& head, int priors = kChoicePriors);
  LaneArray Of(const LaneArray& condition) const;  // as many as there are priors

 private:
  WeightTensor weight_, bias_;
};

}  // namespace millrace
