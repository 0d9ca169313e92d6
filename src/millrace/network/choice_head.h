// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "millrace/network/linear_layer.h"
#include "millrace/network/sizes.h"
#include "millrace/network/weights.h"

// The part of a head that runs for every choice of every step, and so most of what a policy costs: about 1600
// multiplications each. The formulas are in gflownet/policy/message_passing.h and go/network.h.
namespace millrace {

// What heuristics say of a choice, at the strengths given to them.
MILLRACE_INLINE float PriorScore(const float* priors, const float* strengths) {
  constexpr float kLeast = -1e4f;
  float score = 0;
  for (int k = 0; k < kChoicePriors; ++k) score += strengths[k] * (priors[k] > kLeast ? priors[k] : kLeast);
  return score;
}

// Cut off beyond 1e9; not-a-number counts as the least.
MILLRACE_INLINE float BoundedLogit(float logit) {
  constexpr float kMost = 1e9f;
  const float above = logit > -kMost ? logit : -kMost;
  return above < kMost ? above : kMost;
}

// What the choices of one step are scored from. Those marked so lie in a LaneArray.
struct ChoicesToScore {
  std::span<const std::int32_t> ids;  // groups, or devices
  const float* features = nullptr;    // by choice x kChoiceFeatures
  const float* priors = nullptr;      // by choice x kChoicePriors; see PriorScore
  const float* first = nullptr;   // LaneArray; by id x kHidden: what of the first layer is known of it before any step
  const float* shared = nullptr;  // LaneArray; kHidden: likewise for all choices of this step
  const float* strengths = nullptr;  // of the priors
  const float* gains = nullptr;      // LaneArray; kHidden: what the inputs of NAME.out are multiplied by; null: 1
  const float* ahead = nullptr;      // by choice x (kAheadFeatures + 1 prior); null: nothing
  float ahead_strength = 0;          // of that prior
};

// Immutable. Takes NAME.features, NAME.hidden, NAME.out and, if it is there, NAME.ahead.
class ChoiceHead {
 public:
  ChoiceHead(const Weights& weights, const std::string& name);

  bool looks_ahead() const { return ahead_.inputs() > 0; }  // else `ahead` of choices must be null

  // logits.size() == choices.ids.size(). See BoundedLogit.
  void Score(const ChoicesToScore& choices, std::span<float> logits) const;

 private:
  LinearLayer features_, ahead_, hidden_;
  LaneArray out_;
};

}  // namespace millrace
