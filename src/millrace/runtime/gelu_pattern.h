// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "millrace/runtime/activation.h"

// The Gaussian error linear unit as exporters spell it out: x * (1 + erf(x / sqrt(2))) * 0.5, in any order of the
// products (Hendrycks and Gimpel, "Gaussian error linear units", 2016).
namespace millrace {

struct GeluPattern {
  std::vector<int> nodes;  // in execution order
  int output = -1;
};

// The pattern over `value` made of these nodes only, nothing inside it read elsewhere; `value` itself may have other
// readers.
std::optional<GeluPattern> GeluOf(const Model& model, std::span<const int> nodes, int value);

Activation GeluActivation();

}  // namespace millrace
