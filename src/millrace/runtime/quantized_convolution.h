// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Convolutions of 8-bit integers: QLinearConv, whose result is stored in 8 bits again, and ConvInteger, whose result is
// the sums. Where oneDNN's kernels are exact here (integer_products.h) and weights have zero in the middle, they work
// on bytes, channels innermost. Otherwise the bytes are widened to float32, whose sums are exact up to 2^24. A gang
// shares out the rows of the result.
namespace millrace {

std::vector<KernelEntry> QuantizedConvolutionKernels();

}  // namespace millrace
