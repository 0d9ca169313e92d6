// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "millrace/policy/linear_layer.h"
#include "millrace/policy/weights.h"

// The part of a head that runs for every choice of every step, and so most of what a policy costs: about 1600
// multiplications each. The formulas are in message_passing.h.
namespace millrace {

// What the choices of one step are scored from. Those marked so lie in a LaneArray.
struct ChoicesToScore {
  std::span<const std::int32_t> ids;  // groups, or devices
  const float* features = nullptr;    // by choice x 16
  const float* priors = nullptr;      // by choice x 4; below -1e4 they count as that
  const float* first = nullptr;   // LaneArray; by id x kHidden: what of the first layer is known of it before any step
  const float* shared = nullptr;  // LaneArray; kHidden: likewise for all choices of this step
  const float* strengths = nullptr;  // of the priors
};

// Immutable. Takes NAME.features, NAME.hidden and NAME.out.
class ChoiceHead {
 public:
  ChoiceHead(const Weights& weights, const std::string& name);

  // logits.size() == choices.ids.size(). They are finite: beyond 1e9 they are cut off.
  void Score(const ChoicesToScore& choices, std::span<float> logits) const;

 private:
  LinearLayer features_, hidden_;
  LaneArray out_;
};

}  // namespace millrace
