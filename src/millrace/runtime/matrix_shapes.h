// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel.h"

// A Gemm or MatMul, of integers too, as a batch of matrix products: output[b] = alpha * left[b] x right[b] (+ beta *
// addend).
namespace millrace {

struct MatrixShapes {
  std::int64_t rows = 1;     // of the output and the left side
  std::int64_t inner = 1;    // columns of the left side, rows of the right
  std::int64_t columns = 1;  // of the output and the right side
  Shape batch;               // dimensions before the last two, broadcast
  // By batch, row-major: where its matrices begin, in elements.
  std::vector<std::int64_t> left_offsets, right_offsets;
  bool left_transposed = false;
  bool right_transposed = false;
  float alpha = 1;
  float beta = 1;
};

// `right`: the input that is the right side.
MatrixShapes MatrixShapesOf(const Model& model, int node, std::size_t right = 1);

}  // namespace millrace
