// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/policy.h"

#include <cmath>

#include "millrace/errors/errors.h"

namespace millrace {

void CheckTemperature(double temperature) {
  if (std::isfinite(temperature) && temperature > 0) return;
  throw InvalidInput("the reward temperature is " + std::to_string(temperature) + "; it must be finite and above 0");
}

}  // namespace millrace
