// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/strength_layer.h"

#include <algorithm>
#include <cmath>

namespace millrace {
namespace {

constexpr float kMostLogStrength = 8.0f;

}  // namespace

StrengthLayer::StrengthLayer(const Weights& weights, const std::string& head, int priors)
    : weight_(weights.Get(head + ".strength.weight", {priors, kCondition})),
      bias_(weights.Get(head + ".strength.bias", {priors})) {}

LaneArray StrengthLayer::Of(const LaneArray& condition) const {
  LaneArray strengths(bias_.values.size());
  for (std::size_t k = 0; k < bias_.values.size(); ++k) {
    float sum = bias_.values[k];
    for (std::size_t i = 0; i < kCondition; ++i) sum += weight_.values[k * kCondition + i] * condition.data()[i];
    strengths.data()[k] = std::exp(std::clamp(sum, -kMostLogStrength, kMostLogStrength));
  }
  return strengths;
}

}  // namespace millrace
