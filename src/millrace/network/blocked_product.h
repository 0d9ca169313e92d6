// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "millrace/vector/lanes.h"

// Matrix products of float32 as networks need them: many rows by a matrix that is laid out for it.
namespace millrace {

// output = bias + input x weight for every row. The sum of an output runs over the inputs in order, whatever the number
// of rows, so a row's result depends on nothing but the row. Input and output do not overlap.
struct BlockedProduct {
  const float* weight = nullptr;  // LaneArray; by block of kLanes outputs x input x kLanes
  const float* bias = nullptr;    // LaneArray; by output; null: none
  std::size_t inputs = 0;
  std::size_t blocks = 0;  // of outputs
  std::size_t rows = 0;
  bool relu = false;
  const float* input = nullptr;
  std::size_t input_stride = 0;   // from row to row
  float* output = nullptr;        // LaneArray, or whole kLanes behind its beginning
  std::size_t output_stride = 0;  // whole kLanes
};

void Multiply(const BlockedProduct& product);

}  // namespace millrace
