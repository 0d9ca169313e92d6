// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/linear_layer.h"

#include <algorithm>

#include "millrace/network/blocked_product.h"

namespace millrace {

LinearLayer::LinearLayer(const Weights& weights, const std::string& name, int inputs, int outputs, Bias bias)
    : inputs_(inputs),
      outputs_((outputs + kLanes - 1) / kLanes * kLanes),
      weight_(static_cast<std::size_t>(inputs) * static_cast<std::size_t>(outputs_)),
      bias_(static_cast<std::size_t>(outputs_)) {
  const WeightTensor& weight = weights.Get(name + ".weight", {outputs, inputs});
  for (int output = 0; output < outputs; ++output) {
    for (int input = 0; input < inputs; ++input) {
      weight_.data()[(output / kLanes * inputs + input) * kLanes + output % kLanes] =
          weight.values[static_cast<std::size_t>(output * inputs + input)];
    }
  }
  if (bias == Bias::kNone) return;
  const WeightTensor& own = weights.Get(name + ".bias", {outputs});
  std::copy(own.values.begin(), own.values.end(), bias_.data());
}

void LinearLayer::Apply(const float* input, std::size_t rows, Then then, float* output) const {
  Multiply({weight_.data(), bias_.data(), static_cast<std::size_t>(inputs_),
            static_cast<std::size_t>(outputs_ / kLanes), rows, then == Then::kRelu, input,
            static_cast<std::size_t>(inputs_), output, static_cast<std::size_t>(outputs_)});
}

}  // namespace millrace
