// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/formats/model.h"

// The shape of an Einsum, which libonnx 1.12 infers no further than its rank.
namespace millrace {

// Equations of letters, commas and an optional arrow; an extent of 1 spreads over a larger one of the same letter.
// Nothing where the equation holds anything else ("..."), or does not fit the shapes.
std::optional<Shape> EinsumShape(const std::string& equation, const std::vector<Shape>& inputs);

}  // namespace millrace
