// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "millrace/vector/lanes.h"

// What encoders do to rows between their linear layers. Widths are multiples of kLanes, rows lie in a LaneArray.
namespace millrace {

// Each row becomes relu(row * (1 + scale) + shift): feature-wise linear modulation (Perez et al., 2018).
void Modulate(const LaneArray& scale, const LaneArray& shift, int width, std::size_t rows, float* values);

// out = weight * (row - mean) / sqrt(variance + 1e-5) + bias, for each row of `values`.
void Normalise(const LaneArray& weight, const LaneArray& bias, int width, std::size_t rows, const float* values,
               float* out);

}  // namespace millrace
