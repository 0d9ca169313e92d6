// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/network/weights.h"
#include "millrace/random/random.h"

namespace millrace::testing {

// Every tensor gets noise, so that nothing is 0 that a test should notice.
inline Weights Shaken(Weights weights, Random& random, double noise) {
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(noise * random.Normal());
  }
  return weights;
}

}  // namespace millrace::testing
