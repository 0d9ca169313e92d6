// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Matrix products of 8-bit integers: QLinearMatMul and com.microsoft's QGemm (ONNX Runtime), whose results are stored
// in 8 bits again, and MatMulInteger, whose results are the sums. Weights with zero in the middle go through oneDNN
// where it is exact here (integer_products.h); anything else through loops of our own, in 32 bits. A gang shares out
// the rows or the columns.
namespace millrace {

std::vector<KernelEntry> QuantizedProductKernels();

}  // namespace millrace
