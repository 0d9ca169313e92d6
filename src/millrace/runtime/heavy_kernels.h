// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// The operators executed by oneDNN primitives: convolution, matrix products, pooling, normalisation, softmax,
// concatenation, activations, sums of equal shapes. float32 only.
namespace millrace {

std::vector<KernelEntry> HeavyKernels();

}  // namespace millrace
