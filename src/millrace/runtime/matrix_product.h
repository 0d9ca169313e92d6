// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Gemm and MatMul. With a constant right-hand side: a oneDNN matmul whose weights are packed once, and the epilogue of
// epilogue.h inside it; a gang shares out rows or columns. With a computed one: calls of sgemm over batches and rows.
namespace millrace {

// Whether the node's product runs with packed weights, so that it takes an epilogue.
bool TakesEpilogue(const Model& model, int node);

std::vector<KernelEntry> MatrixProductKernels();

}  // namespace millrace
